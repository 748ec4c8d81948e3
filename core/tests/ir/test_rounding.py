"""Rounding to whole steps: what it promises, for numbers and for arrays."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.rounding import align_down, align_up, ceil_div

ROOT = Path(__file__).parents[3]
SOURCES = [*ROOT.glob("core/src/**/*.py"), *ROOT.glob("plugins/*/src/**/*.py")]
BY_HAND = re.compile(r"-\(-[^\n]*//")
NUMBERS, STEPS = st.integers(-(2**40), 2**40), st.integers(1, 2**20)


@given(NUMBERS, STEPS)
def test_pieces_hold_all_and_one_less_does_not(count: int, size: int) -> None:
    pieces = ceil_div(count, size)
    assert (pieces - 1) * size < count <= pieces * size


@given(NUMBERS, STEPS)
def test_the_nearest_multiples_on_both_sides(value: int, align: int) -> None:
    low, high = align_down(value, align), align_up(value, align)
    assert low % align == high % align == 0
    assert low <= value <= high
    assert high - low == (align if value % align else 0)


def test_arrays_are_rounded_element_by_element() -> None:
    counts, sizes = np.array([0, 1, 8, 9]), np.array([1, 2, 4, 8])
    assert ceil_div(counts, 4).tolist() == [0, 1, 2, 3]
    assert ceil_div(counts, sizes).tolist() == [0, 1, 2, 2]
    assert ceil_div(8, sizes).tolist() == [8, 4, 2, 1]
    assert align_up(counts, 4).tolist() == [0, 4, 8, 12]


def test_nothing_is_rounded_up_by_hand() -> None:
    sources = [path for path in SOURCES if path.name != "rounding.py"]
    by_hand = [path.name for path in sources if BY_HAND.search(path.read_text(encoding="utf-8"))]
    assert sources
    assert by_hand == []
