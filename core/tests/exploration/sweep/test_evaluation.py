"""A point's row says what `check` says of the same flags alone; what is wrong with a point is its row's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.tests.exploration.chain import model
from core.tests.exploration.sweep.points_kit import point
from row_networks import ONE_MEMORY
from tilewright.deployment import Deployment
from tilewright.exploration.sweep import evaluation
from tilewright.exploration.sweep.evaluation import evaluated, figures
from tilewright.front_door.compile_keywords import options_of
from tilewright.report.report_json import build_report
from tilewright.testing.cluster import registry_for


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.deployment.load_for", lambda **_: registry_for(ONE_MEMORY))
    monkeypatch.setattr(evaluation, "_kept", type(evaluation._kept)())


@pytest.fixture(name="net")
def _net(tmp_path: Path) -> Path:
    (tmp_path / "net.onnx").write_bytes(model())
    return tmp_path / "net.onnx"


def row_of(net: Path, **flags: Any) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(evaluated(point(net, ONE_MEMORY.name, **flags).as_text()))
    return row


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags", [{}, {"optimize": "ram"}, {"memory": {"fast": "24K"}, "clock": "1MHz"}, {"groups": 1, "seed": 3}], ids=str
)
def test_figures_are_those_of_the_report(net: Path, flags: dict[str, Any]) -> None:
    row_of(net, optimize="balanced")  # so that the network has been read before
    row = row_of(net, **flags)
    own = {**flags, "memory": {"ram": flags["memory"]["fast"]}} if "memory" in flags else flags
    report = build_report(Deployment(net, ONE_MEMORY.name, options_of(own)), artifacts=False)
    assert row["fits"] and {name: row[name] for name in figures(report)} == json.loads(json.dumps(figures(report)))
    assert row["ram_bytes"] == sum(pool["used_bytes"] for pool in report["pools"] if pool["kind"] == "ram")


@pytest.mark.slow
def test_a_network_is_read_once(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row_of(net)
    monkeypatch.setattr("tilewright.deployment.imported_with", None)
    assert row_of(net, memory={"ram": "24K"})["fits"]
    assert row_of(net, io_type="int8")["code"] == "TW9001"  # would have to be read again
    net.write_bytes(net.read_bytes() + b"")
    net.touch()
    assert row_of(net)["code"] == "TW9001"


@pytest.mark.slow
def test_what_is_wrong_is_in_the_row(net: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = row_of(net, memory={"ram": "1K"})
    assert (small["fits"], small["code"]) == (False, "TW5001") and "--memory ram=1K" in small["flags"]
    assert row_of(net, memory={"fast": "1K", "main": "1K"})["code"] == "TW1413"
    assert row_of(net, memory={"vram": "1K"})["code"] == "TW1103"
    assert row_of(net.with_name("none.onnx"))["code"] == "TW1201"
    monkeypatch.setattr(evaluation, "figures", lambda _: 1 / 0)
    assert row_of(net)["reason"] == "internal error: ZeroDivisionError: division by zero"
