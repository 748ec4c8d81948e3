"""The float32 that makes the formula exact, beside fractions: every sum, not only thresholds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.exact_scale import exact_scale
from tilewright.ir.tensors.requant import Requant, requantise

scales = st.one_of(st.floats(2.0**-9, 0.5, width=32), st.integers(1, 40).map(lambda hundredths: hundredths / 100))


def stored(scale: float) -> Fraction:
    return Fraction(float(np.float32(scale)))


@settings(max_examples=60, deadline=None)
@given(a=scales, b=scales, y=scales)
def test_exact_means_equal_on_every_sum(a: float, b: float, y: float) -> None:
    ratio = stored(a) * stored(b) / stored(y)
    scale, exact = exact_scale(ratio, (-2000, 2000), (-100, 155))
    sums = np.arange(-2000, 2001)
    found = requantise(sums, Requant(scale=(scale,), zero_point=0, low=-100, high=155), 0)
    expected = [min(max(round(ratio * int(acc)), -100), 155) for acc in sums]
    assert not exact or found.tolist() == expected


def test_halves_that_a_rounded_ratio_would_move() -> None:
    """0.05 * 0.02 / 0.1 is not quite 1/100, and its float32 is on the other side of it."""
    ratio = stored(0.05) * stored(0.02) / stored(0.1)
    rounded = float(np.float32(np.float32(np.float32(0.05) * np.float32(0.02)) / np.float32(0.1)))
    scale, exact = exact_scale(ratio, (-65025, 65025), (-255, 255))
    halves = np.arange(50, 20000, 100)
    expected = [round(ratio * int(acc)) for acc in halves]
    assert exact and scaled(halves, scale) == expected
    assert scaled(halves, rounded) != expected


def scaled(sums: npt.NDArray[np.int64], scale: float) -> list[int]:
    return list(requantise(sums, Requant(scale=(scale,), zero_point=0, low=-255, high=255), 0).tolist())


@pytest.mark.parametrize("count", [14, 28, 110])
def test_halves_that_go_up_and_down_have_no_scale(count: int) -> None:
    assert exact_scale(Fraction(1, count), (-255 * count, 255 * count), (-255, 255))[1] is False


@pytest.mark.parametrize("ratio", [Fraction(0), Fraction(1, 2**200)])
def test_a_ratio_of_nothing(ratio: Fraction) -> None:
    assert exact_scale(ratio, (-100, 100), (-128, 127)) == (0.0, False)


def test_a_ratio_beyond_float32_only_saturates() -> None:
    scale, exact = exact_scale(Fraction(2) ** 200, (-100, 100), (-128, 127))
    requant = Requant(scale=(scale,), zero_point=0, low=-128, high=127)
    assert exact and requantise(np.array([-100, 0, 100]), requant, 0).tolist() == [-128, 0, 127]
