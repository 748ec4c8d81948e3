"""The numbers nearest to a layer's scales on a unit that shifts: nothing overflows, nothing finer would fit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.shift_unit import ShiftUnit, nearest
from tilewright.ir.tensors.roundings import MultiplyShift


def bounds_of(*reach: tuple[int, int]) -> AccumulatorBounds:
    low, high = (tuple(end) for end in zip(*reach, strict=True))
    return AccumulatorBounds(lowest=low, highest=high, partial_lowest=low, partial_highest=high)


units: Any = st.builds(
    ShiftUnit, multiplier_bits=st.sampled_from([8, 15, 31]), addend_bits=st.sampled_from([0, 32]),
    shift_per_channel=st.booleans(), rounding=st.sampled_from(["floor", "half-up", "half-even"]),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    unit=units, scales=st.lists(st.floats(2.0**-16, 0.5), min_size=1, max_size=4),
    reach=st.tuples(st.integers(-(2**20), 0), st.integers(1, 2**20)),
)  # fmt: skip
def test_nothing_overflows_and_nothing_finer_would_do(
    unit: ShiftUnit, scales: list[float], reach: tuple[int, int]
) -> None:
    ratios = tuple(map(Fraction, scales))
    found = nearest(unit, ratios, bounds_of(*[reach] * len(ratios)))
    if isinstance(found, str):
        fine = 2**unit.multiplier_bits / max(scales)  # one shift for all loses the smallest scale
        assert not unit.shift_per_channel and min(scales) * min(fine, 2.0**31 / 2**20) < 2
        return
    finer_fits = []
    for channel, ratio in enumerate(ratios):
        multiplier, addend, shift = (
            values[0 if len(values) == 1 else channel] for values in (found.multiplier, found.addend, found.shift)
        )
        assert multiplier == round(ratio * 2**shift)
        ends = [end * multiplier + more for end in reach for more in (0, addend, addend + (1 << shift >> 1))]
        assert min(ends) >= -(2**31) and (unit.rounding != "floor" or max(ends[:2] + ends[3:5]) < 2**31)
        assert multiplier < 2**unit.multiplier_bits and 0 <= shift <= 31
        finer = round(ratio * 2 ** (shift + 1))
        constant = (1 << shift) if unit.rounding != "floor" or unit.addend_bits else 0
        fits = finer < 2**unit.multiplier_bits and reach[0] * finer >= -(2**31) and reach[1] * finer + constant < 2**31
        finer_fits.append(fits and shift < 31)
    assert not (any(finer_fits) if unit.shift_per_channel else all(finer_fits))


def test_a_unit_that_rounds_down_is_given_half_a_step() -> None:
    found = nearest(ShiftUnit(rounding="floor"), (Fraction(1, 3),), bounds_of((-1000, 1000)))
    assert isinstance(found, MultiplyShift) and found.addend == (2 ** (found.shift[0] - 1),)
    bare = nearest(ShiftUnit(rounding="floor", addend_bits=0), (Fraction(1, 3),), bounds_of((-1000, 1000)))
    assert isinstance(bare, MultiplyShift) and bare.addend == (0,)


@pytest.mark.parametrize("unit", [ShiftUnit(), ShiftUnit(shift_per_channel=True)])
def test_sums_that_no_register_holds(unit: ShiftUnit) -> None:
    reason = nearest(unit, (Fraction(4),), bounds_of((-(2**30), 2**30)))
    assert reason == "no shift up to 31 keeps every product within 32 bits, and every multiplier"


def test_shifts_of_channels_are_shared_unless_the_unit_has_one_each() -> None:
    ratios, bounds = (Fraction(1, 2), Fraction(1, 1000)), bounds_of((-100, 100), (-100, 100))
    shared, own = (nearest(ShiftUnit(shift_per_channel=each), ratios, bounds) for each in (False, True))
    assert isinstance(shared, MultiplyShift) and isinstance(own, MultiplyShift)
    assert len(shared.shift) == 1 and len(own.shift) == 2 and own.shift[1] > own.shift[0]
