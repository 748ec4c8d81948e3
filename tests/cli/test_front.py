"""What a check says of less memory: the line that it prints is typed, and gives what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from networks import network_file
from tilewright import compile
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.plan.proposals.planner import ram_bytes

SAID = re.compile(r"^fits in ([\d,]+) B at [+-][\d.]+ %; row by row in ([\d,]+) B at ([+-][\d.]+) %", re.MULTILINE)
COSTS = re.compile(r"(?:about ([\d.]+) %|no) more cycles than layer by layer")
TYPED = re.compile(r"^  (tilewright check .* --optimize ram)$", re.MULTILINE)
NAMED = re.compile(r"^memory against cycles: (tilewright check .*)$", re.MULTILINE)
TABLE = "memory against cycles over layer by layer (estimates)"
RAM = re.compile(r"^  ram +([\d,]+) B", re.MULTILINE)


@pytest.mark.parametrize(("name", "target"), [("resnet8_int8", "generic"), ("kws_int8", "cortex-m4")])
def test_the_line_that_is_printed_gives_what_it_says(tilewright: Callable[..., Any], name: str, target: str) -> None:
    checked = tilewright("check", network_file(name), "--target", target)
    said, typed = SAID.search(checked.out), TYPED.search(checked.out)
    assert said and typed, checked.out
    assert RAM.findall(checked.out) == [said[1]]
    again = tilewright(*shlex.split(typed[1])[1:])
    assert again.code == 0 and RAM.findall(again.out) == [said[2]]
    costs = COSTS.search(again.out + again.err)
    assert costs and float(said[3]) == float(costs[1] or 0)  # over the same as the note of that plan
    assert SAID.search(again.out) is None


def test_a_report_shows_the_front(tilewright: Callable[..., Any], tmp_path: Path) -> None:
    words = ("compile", network_file("kws_int8"), "--target", "generic", "--front", "-o", tmp_path / "kws")
    assert tilewright(*words).code == 0
    report = tmp_path / "kws" / "report.json"
    text, page = tilewright("report", report).out, tilewright("report", report, "--format", "html").out
    assert TABLE in text and "--optimize ram" in text and "this plan" in text
    assert "Memory against cycles" in page and "<code>--optimize ram</code>" in page


def test_a_report_that_was_not_asked_for_it_names_the_command_that_shows_it(
    tilewright: Callable[..., Any], tmp_path: Path
) -> None:
    file = network_file("kws_int8")
    assert tilewright("compile", file, "--target", "generic", "-o", tmp_path / "kws").code == 0
    report = tmp_path / "kws" / "report.json"
    assert "front" not in json.loads(report.read_text("utf-8"))
    named = NAMED.search(tilewright("report", report).out)
    assert named and f"<code>{named[1]}</code>" in (tmp_path / "kws" / "report.html").read_text("utf-8")
    shown = tilewright(*shlex.split(named[1].replace("MODEL", str(file)))[1:])
    assert shown.code == 0 and TABLE in shown.out and "--optimize ram" in shown.out
    assert TABLE not in tilewright("check", file, "--target", "generic").out


def test_a_compilation_does_not_look_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def unasked(_: Deployment) -> NoReturn:
        raise AssertionError("the front was looked for")

    monkeypatch.setattr(Deployment, "front", property(unasked))
    assert "front" not in compile(network_file("kws_int8"), "generic").report.data
    with pytest.raises(AssertionError, match="looked for"):
        compile(network_file("kws_int8"), "generic", front=True)


@pytest.mark.parametrize("target", ["generic", "cortex-m4"])
def test_every_point_is_reached(target: str) -> None:
    front = Deployment(network_file("resnet8_int8"), target).front
    limits = [one for one in front if one.flags.startswith("--memory")]
    assert len(front) > len(limits) > 0
    for one in limits[:: max(1, len(limits) // 2)]:
        size = int(one.flags.rpartition("=")[2])
        plan = Deployment(network_file("resnet8_int8"), target, Options(memory={"ram": size})).allocated
        assert ram_bytes(plan) <= one.ram_bytes


def test_there_is_no_front_with_a_scratchpad() -> None:
    assert Deployment(network_file("kws_int8"), "siracusa").front == ()
