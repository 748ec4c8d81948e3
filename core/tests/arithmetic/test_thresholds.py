"""Thresholds of every rounding beside the rounding itself, sum by sum; and when there are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.thresholds import thresholds
from tilewright.ir.tensors.requant import ONNX, Requant, requantise
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational, Rounding

ROUNDINGS: tuple[Rounding, ...] = (
    ONNX,
    DoubleRounding(),
    DoubleRounding(terms=9),
    Rational(numerator=(3,), denominator=(40,), halves="away"),
    MultiplyShift(multiplier=(700,), shift=(13,), addend=(99,), rounding="floor"),
    MultiplyShift(multiplier=(70_000,), shift=(16,), bits=24, overflow="saturates"),
)


@settings(max_examples=60, deadline=None)
@given(
    rounding=st.sampled_from(ROUNDINGS), scale=st.floats(2.0**-8, 2.0, width=32), low=st.sampled_from([-128, 0, 5]),
    lowest=st.integers(-2000, 500), extent=st.integers(0, 2000),
)  # fmt: skip
def test_each_is_the_first_sum_that_reaches_its_result(
    rounding: Rounding, scale: float, low: int, lowest: int, extent: int
) -> None:
    requant = Requant(scale=(scale,), zero_point=5, low=low, high=100, rounding=rounding)
    known = thresholds(requant, np.array([lowest]), np.array([lowest + extent]))
    assert known.sound.all()
    sums = np.arange(lowest, lowest + extent + 1)
    results = requantise(sums, requant, 0) - 5
    for step, threshold in zip(known.steps, known.sums[0], strict=True):
        reaching = sums[results >= step]
        assert threshold == (reaching[0] if reaching.size else lowest + extent + 1)


@pytest.mark.parametrize(("rounding", "reach", "sound"), [
    (MultiplyShift(multiplier=(2**20,), shift=(20,), bits=32), 2000, True),
    (MultiplyShift(multiplier=(2**20,), shift=(20,), bits=32), 2100, False),
    (MultiplyShift(multiplier=(-3,), shift=(2,), bits=32), 10, False),
    (DoubleRounding(), 2**27, True), (DoubleRounding(), 2**29, False),
])  # fmt: skip
def test_what_wraps_around_falls(rounding: Rounding, reach: int, sound: bool) -> None:
    requant = Requant(scale=(7.0,), zero_point=0, low=-128, high=127, rounding=rounding)
    assert thresholds(requant, np.array([-reach]), np.array([reach])).sound.tolist() == [sound]
