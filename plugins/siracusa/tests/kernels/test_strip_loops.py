"""Orders of instructions: all of them, none before what it needs, and floats apart from each other."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tilewright_siracusa.kernels.strip_loops import REGISTERS, StripLoop, scheduled, strip_loop

SHAPES = [(rows, stride, pixels) for rows in (2, 3, 4) for stride in (1, 2) for pixels in (1, 2)]


def uses(line: str) -> list[str]:
    """Registers as written: the one that is given first."""
    return re.findall(r"%\[(\w+)\]|\b(ft\d)\b", line) and [
        a or b for a, b in re.findall(r"%\[(\w+)\]|\b(ft\d)\b", line)
    ]


def test_windows_below_each_other_share_rows() -> None:
    loop = StripLoop(rows=3, stride=1, pixels=2, below=2)
    assert loop.reads == [0, 1, 2, 3]
    assert loop.outputs == ["00", "01", "10", "11"]
    assert StripLoop(rows=3, stride=2, pixels=1, below=2).reads == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("rows", "stride", "pixels"), SHAPES)
def test_registers_suffice(rows: int, stride: int, pixels: int) -> None:
    loop = strip_loop(rows, stride, pixels)
    assert loop.registers <= REGISTERS
    assert loop.below in (2, 4)


@pytest.mark.parametrize(("rows", "stride", "pixels"), SHAPES)
def test_every_window_is_summed_rounded_and_stored_in_order(rows: int, stride: int, pixels: int) -> None:
    loop = strip_loop(rows, stride, pixels)
    body = scheduled(loop, "SDOTSP", "i8")
    assert len(body) == len(loop.reads) + len(loop.outputs) * (rows + 7)
    loaded: set[str] = set()
    summed: dict[str, int] = {}
    stored = []
    for line in body:
        first, *others = uses(line)
        if "lw" in line.lower():
            loaded.add(first)
        elif "SDOTSP" in line:
            assert others[0] in loaded
            summed[first] += 1
        elif "MV" in line:
            summed[first] = 0
        elif "fcvt.s.w" in line:
            assert summed[others[0]] == rows
        elif "SB_BY" in line:
            stored.append(first)
    assert stored == [f"s{name}" for name in loop.outputs]


def test_two_cores_take_turns_where_there_is_something_else_to_do() -> None:
    body = scheduled(strip_loop(3, 1, 2), "SDOTUSP", "u8")
    floats = ["fcvt" in line or "fmul" in line for line in body]
    assert sum(floats) == 12
    assert not any(one and other for one, other in pairwise(floats[:-8]))
