"""Two reports side by side: numbers that grew, and how much they may."""

from __future__ import annotations

from typing import Any

import pytest

from tilewright.errors import Exit, TilewrightError
from tilewright.report.compare import Difference, Gate, differences, parse_gates


def report(cycles: int, *pools: tuple[str, str, int]) -> dict[str, Any]:
    told = [{"name": name, "kind": kind, "used_bytes": size} for name, kind, size in pools]
    return {"pools": told, "cycles": {"total": cycles}, "macs": 7, "steps": [{}, {}]}


OLD = report(100, ("sram", "ram", 40), ("sram", "state", 8), ("flash", "const", 90))
NEW = report(103, ("dtcm", "ram", 16), ("sram", "ram", 20), ("sram", "resident", 4), ("flash", "const", 90))


def test_what_is_compared() -> None:
    """What lasts is RAM too, and a line of its own; what only one report has stands as nothing on the other side."""
    assert [(each.name, each.old, each.new) for each in differences(OLD, NEW)] == [
        ("ram", 48, 40), ("flash", 90, 90), ("cycles", 100, 103), ("macs", 7, 7), ("steps", 2, 2),
        ("pool.sram", 40, 20), ("pool.sram.state", 8, None), ("pool.flash", 90, 90), ("pool.dtcm", None, 16),
        ("pool.sram.resident", None, 4),
    ]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "growth", "percent"), [
    (100, 103, 3, 3.0), (50, 40, -10, -20.0), (None, 16, 16, float("inf")), (0, 5, 5, float("inf")),
    (8, None, -8, -100.0), (0, 0, 0, 0.0), (None, 0, 0, 0.0),
])  # fmt: skip
def test_growth(old: int | None, new: int | None, growth: int, percent: float) -> None:
    found = Difference(name="ram", old=old, new=new)
    assert (found.growth, found.percent) == (growth, percent)


@pytest.mark.parametrize(("text", "broken"), [
    ("cycles+3%", False), ("cycles+2.9%", True), ("cycles+3", False), ("cycles+2", True),
    ("pool.dtcm+99999%", True), ("pool.dtcm+16", False), ("ram+0", False),
])  # fmt: skip
def test_gates(text: str, broken: bool) -> None:
    found = {each.name: each for each in differences(OLD, NEW)}
    (gate,) = parse_gates(text, tuple(found))
    assert gate.broken_by(found[gate.name]) == broken


def test_several_gates() -> None:
    assert parse_gates(" ram+2% ,, flash+512,", ("ram", "flash")) == (
        Gate(name="ram", most=2.0, relative=True), Gate(name="flash", most=512.0, relative=False)
    )  # fmt: skip
    assert parse_gates("", ("ram",)) == ()


@pytest.mark.parametrize("text", ["ram", "ram+", "ram-2%", "ram+2 %", "ram+x", "rom+2%", "ram+2%%"])
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(TilewrightError, match="must read NAME") as caught:
        parse_gates(f"ram+1,{text}", ("ram", "pool.sram"))
    assert (caught.value.code, caught.value.exit_code) == ("TW1101", Exit.USAGE)
    assert f"'--fail-on {text}'" in caught.value.message
    assert caught.value.details == ("NAME is one of ram, pool.sram",)
