"""Forms with a free addend on a unit, beside the layer's own rounding on every sum; and where there is none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.free_proof import prove_unit
from tilewright.arithmetic.shift_unit import ShiftUnit
from tilewright.ir.tensors.requant import Requant, requantise
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational, Rounding

few = settings(max_examples=150, deadline=None)
WIDE = ShiftUnit(addend_bits=62, largest_shift=50, bits=62)
UNITS = (
    WIDE,
    replace(WIDE, addend_bits=0),
    replace(WIDE, rounding="floor"),
    replace(WIDE, rounding="half-even", shift_per_channel=True),
    ShiftUnit(),
    ShiftUnit(multiplier_bits=8, rounding="floor", zero_point_behind=False),
)


def bounds_of(lowest: int, highest: int, channels: int = 1) -> AccumulatorBounds:
    low, high = (lowest,) * channels, (highest,) * channels
    return AccumulatorBounds(lowest=low, highest=high, partial_lowest=low, partial_highest=high)


def on_unit(proof: Any, requant: Requant, sums: np.ndarray, channel: int) -> np.ndarray:
    """What the unit computes, registers included, in Python's integers."""
    behind = requant.zero_point if proof.unit.zero_point_behind else 0
    form = replace(proof.rounding, multiplier=proof.multipliers, addend=proof.addends, shift=proof.shifts)
    whole = Requant(
        scale=(1.0,) * len(proof.multipliers), zero_point=behind, low=requant.low, high=requant.high, rounding=form
    )
    return requantise(sums, whole.of_channels((channel,)), 0)


@st.composite
def requants(draw: st.DrawFn) -> Requant:
    scale = draw(st.one_of(st.floats(2.0**-9, 1.5, width=32), st.integers(-7, 0).map(lambda power: 2.0**power)))
    low, high = draw(st.sampled_from([(-128, 127), (0, 255), (0, 60)]))
    ratio = Fraction(scale).limit_denominator(300)
    roundings: list[Rounding] = [
        Requant(scale=(1.0,), zero_point=0, low=0, high=1).rounding, DoubleRounding(),
        Rational(
            numerator=(ratio.numerator,), denominator=(ratio.denominator,),
            halves=draw(st.sampled_from(["even", "away"])),
        ),
        MultiplyShift(multiplier=(round(scale * 2**12),), shift=(12,), addend=(draw(st.integers(-5000, 5000)),)),
    ]  # fmt: skip
    zero_point = draw(st.sampled_from([0, low, 17]))
    return Requant(
        scale=(scale,), zero_point=zero_point, low=low, high=high, rounding=draw(st.sampled_from(roundings))
    )  # fmt: skip


@pytest.mark.slow
@few
@given(
    requant=requants(), unit=st.sampled_from(UNITS), lowest=st.integers(-1500, 300), extent=st.integers(0, 1500)
)  # fmt: skip
def test_proved_means_equal_on_every_sum(requant: Requant, unit: ShiftUnit, lowest: int, extent: int) -> None:
    proof = prove_unit(requant, bounds_of(lowest, lowest + extent), unit)
    sums = np.arange(lowest, lowest + extent + 1)
    if proof.whole:
        assert np.array_equal(on_unit(proof, requant, sums, 0), requantise(sums, requant, 0))
        assert unit.holds(proof.multipliers[0], proof.addends[0], proof.shifts[0], (lowest, lowest + extent))
    else:
        assert proof.reasons[0]


@settings(max_examples=60, deadline=None)
@given(scale=st.floats(2.0**-6, 0.875, width=32), lowest=st.integers(-200, 0), extent=st.integers(0, 300))
def test_not_proved_means_impossible(scale: float, lowest: int, extent: int) -> None:
    """Every multiplier and addend of a small unit can be tried: where one is equal, the proof has found one too."""
    unit = ShiftUnit(multiplier_bits=7, smallest_shift=6, largest_shift=6, rounding="floor", addend_bits=9)
    requant = Requant(scale=(scale,), zero_point=0, low=-20, high=20)
    sums = np.arange(lowest, lowest + extent + 1)
    expected = requantise(sums, requant, 0)
    multipliers, addends = np.arange(128)[:, None, None], np.arange(-256, 256)[:, None]
    tried = np.clip((sums * multipliers + addends) >> 6, -20, 20)
    possible = bool((tried == expected).all(axis=-1).any())
    assert prove_unit(requant, bounds_of(lowest, lowest + extent), unit).whole == possible


def test_a_free_addend_finds_what_a_half_does_not() -> None:
    """Two roundings shift every threshold a little to one side."""
    requant = Requant(
        scale=tuple(np.linspace(0.001, 0.002, 40)), zero_point=-128, low=-128, high=127, rounding=DoubleRounding()
    )
    bounds = bounds_of(-60_000, 60_000, 40)
    half, free = (prove_unit(requant, bounds, unit) for unit in (replace(WIDE, addend_bits=0), WIDE))
    assert sum(half.proved) < 10 < 35 < sum(free.proved)
    sums = np.arange(-60_000, 60_001)
    for channel in (0, 20, 39):
        if free.proved[channel]:
            own = requantise(sums, requant.of_channels((channel,)), 0)
            assert np.array_equal(on_unit(free, requant, sums, channel), own)


def test_reasons() -> None:
    alternating = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
    assert "no multiplier and addend are equal" in prove_unit(alternating, bounds_of(-100, 100), WIDE).reasons[0]
    narrow = ShiftUnit(multiplier_bits=3)
    plain = Requant(scale=(0.0371,), zero_point=0, low=-128, high=127)
    assert "registers" in prove_unit(plain, bounds_of(-3000, 3000), narrow).reasons[0]
    wraps = MultiplyShift(multiplier=(2**20,), shift=(20,), bits=32)
    falls = prove_unit(replace(plain, rounding=wraps), bounds_of(-3000, 3000), WIDE)
    assert "falls" in falls.reasons[0] and not falls.whole


def test_a_shift_is_shared_unless_the_unit_has_one_for_each_channel() -> None:
    requant = Requant(scale=(0.3333, 0.00041), zero_point=0, low=-128, high=127)
    bounds, unit = bounds_of(-4000, 4000, 2), ShiftUnit(multiplier_bits=15, addend_bits=40, bits=48, largest_shift=40)
    shared, own = (prove_unit(requant, bounds, replace(unit, shift_per_channel=each)) for each in (False, True))
    assert len(set(shared.shifts)) == 1 and len(set(own.shifts)) == 2
    assert sum(own.proved) >= sum(shared.proved)
