"""`tilewright fit`: the smallest parts, with what is left and what to type; and why there is none."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.tests.exploration.chain import board, model
from row_networks import ONE_MEMORY
from tilewright.front_door import board_choice
from tilewright.plugins.catalogue import Catalogue, Offer, Package
from tilewright.testing.cluster import registry_for

BOARDS = (board("tiny", 600), board("small", 22_000), board("large", 100_000), board("fast", 100_000, clock_hz=10**8))
MADE = {one.name: one for one in (*BOARDS, board("still", 200_000, clock_hz=None))}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_choice, "installed_boards", lambda: MADE)
    monkeypatch.setattr("tilewright.exploration.fit.load_boards", lambda: SimpleNamespace(boards=MADE))
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    offers = (Offer(kind="platform", name="plain", reference="m"),)
    catalogue = Catalogue(packages=(Package(name="p", version="1", requirement="", offers=offers),))
    monkeypatch.setattr("tilewright.plugins.discover", lambda: catalogue, raising=False)


@pytest.fixture(name="net")
def _net(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_bytes(model())
    return tmp_path / "net.onnx"


@pytest.mark.slow
def test_the_smallest_are_first_with_what_to_type(run: Any, net: Path) -> None:
    said = run("fit", net, "--processes", 1, "--most", 3)
    head, _, *rows, last = said.out.splitlines()
    assert (said.code, head) == (0, "net: 4 of 5 run it")
    assert [(row.split()[0], row.split("--")[-1]) for row in rows] == [
        ("small", "board small"),
        ("large", "board large"),
        ("fast", "board fast"),
    ]
    assert last == f"  Next: tilewright check {net} --board small"


@pytest.mark.slow
def test_a_time_leaves_out_those_that_are_slower_or_have_no_clock(run: Any, net: Path) -> None:
    said = run("fit", net, "--processes", 1, "--ms", 50)
    assert said.out.startswith("net: 1 of 5 run it within 50 ms, 1 more with no clock known\n")
    none = run("fit", net, "--processes", 1, "--ms", 0.001)
    assert none.code == 5 and "error[TW5006]: no part runs net" in none.err
    assert "net: the fastest is fast, " in none.err


@pytest.mark.slow
def test_the_cheapest_come_first(run: Any, net: Path, tmp_path: Path) -> None:
    (tmp_path / "costs.csv").write_text("large,1.5\nsmall,2\n", encoding="utf-8")
    said = run("fit", net, "--processes", 1, "--cost", tmp_path / "costs.csv")
    assert [line.split()[0] for line in said.out.splitlines()[2:-1]] == ["large", "small", "fast", "still"]


@pytest.mark.slow
def test_all_of_them_as_json_with_why_others_do_not_fit(run: Any, net: Path) -> None:
    rows = json.loads(run("fit", net, net, "--processes", 1, "--chips", "tiny", "--chips", "larg*", "--json", "-").out)
    assert [(row["part"], row["fits"], row["code"]) for row in rows] == [("tiny", False, "TW5001"), ("large", True, "")]
    assert rows[1]["flags"] == "--board large" and rows[1]["kind"] == "estimate" and rows[1]["cycles"] > 0
    assert "does not fit" in rows[0]["reason"]


@pytest.mark.slow
def test_flags_of_the_plan_are_among_what_to_type(run: Any, net: Path) -> None:
    said = run("fit", net, "--processes", 1, "--chips", "large", "--optimize", "ram", "--reserve", "1000")
    assert "--board large --memory ram=99000 --optimize ram\n" in said.out


@pytest.mark.slow
def test_what_does_not_fit_anywhere_says_what_it_needs(run: Any, net: Path) -> None:
    said = run("fit", net, "--processes", 1, "--chips", "tiny")
    assert said.code == 5 and "error[TW5006]" in said.err and "needs" in said.err


def test_targets_that_are_not_installed_are_left_out_with_a_warning(
    run: Any, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilewright.plugins.discover", lambda: Catalogue(packages=()), raising=False)
    said = run("fit", net, "--processes", 1)
    assert said.code == 5 and "warning[TW8001]: target 'plain' is not installed: 5 parts are left out" in said.err
