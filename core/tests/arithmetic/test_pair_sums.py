"""Sums of two bytes under every rounding: functions beside Python's integers, forms on all 65,536 pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tilewright.arithmetic.pair_sums import (
    PAIR_SUMS,
    fixed_multipliers,
    input_shift,
    pair_sum_form,
    shifted_factors,
)
from tilewright.arithmetic.scaled_sum import ScaledSum
from tilewright.ir.tensors.roundings import fixed_multiplier

BYTES = (-128, 127)
A, B = np.arange(-128, 128)[:, None], np.arange(-128, 128)
PLAIN = ScaledSum(
    a_scale=float(np.float32(0.031)), b_scale=float(np.float32(0.047)), y_scale=float(np.float32(0.0613)),
    a_zero_point=5, b_zero_point=-128, zero_point=-7, low=-128, high=127,
)  # fmt: skip
TOTALS = (
    PLAIN,
    replace(PLAIN, b_scale=-PLAIN.b_scale),
    replace(PLAIN, a_scale=0.5, b_scale=0.25, y_scale=0.5),
    replace(PLAIN, a_scale=2.0**-7, b_scale=0.75, y_scale=1.5, zero_point=100, low=0, high=100),
)


def by_hand(total: ScaledSum, a: int, b: int) -> int:
    """TensorFlow Lite Micro's sum, from its definition: no code is shared with what is tested."""

    def twice_rounded(value: int, multiplier: int, exponent: int) -> int:
        assert exponent <= 0
        high = math.floor(Fraction(value * multiplier, 2**31) + Fraction(1, 2))
        size = math.floor(Fraction(abs(high), 2**-exponent) + Fraction(1, 2))
        return -size if high < 0 else size

    (a_m, a_e), (b_m, b_e), (y_m, y_e) = fixed_multipliers(total)
    left = twice_rounded((a - total.a_zero_point) * 2**20, a_m, a_e)
    right = twice_rounded((b - total.b_zero_point) * 2**20, b_m, b_e)
    y = twice_rounded(left - right if total.b_scale < 0 else left + right, y_m, y_e)
    return min(max(y + total.zero_point, total.low), total.high)


@pytest.mark.parametrize("total", TOTALS)
def test_three_multipliers(total: ScaledSum) -> None:
    found = PAIR_SUMS["tflm"](total, A, B)
    for a in range(-128, 128, 7):
        for b in range(-128, 128, 3):
            assert found[a + 128, b + 128] == by_hand(total, a, b)


@pytest.mark.parametrize("total", TOTALS)
def test_multiply_and_shift(total: ScaledSum) -> None:
    """The factors are the nearest at the finest shift that 32 bits hold."""
    a_factor, b_factor, shift = shifted_factors(total)
    assert abs(Fraction(a_factor, 2**shift) - total.ratios[0]) <= Fraction(1, 2 ** (shift + 1))
    assert 511 * (abs(a_factor) + abs(b_factor)) < 2**30 and shift > 15
    found = PAIR_SUMS["multiply-shift"](total, A, B)
    exact = (A - total.a_zero_point) * a_factor + (B - total.b_zero_point) * b_factor
    assert np.array_equal(
        found, np.clip(((exact + (1 << (shift - 1))) >> shift) + total.zero_point, total.low, total.high)
    )


@pytest.mark.parametrize("rounding", PAIR_SUMS)
@pytest.mark.parametrize("total", TOTALS)
def test_a_form_is_equal_for_every_pair(total: ScaledSum, rounding: str) -> None:
    form = pair_sum_form(total, BYTES, BYTES, rounding)
    if form is None or form.ties or form.divisor:
        assert rounding != "multiply-shift"
        return
    v = (A * form.a_factor + B * form.b_factor + form.offset) >> form.shift
    assert np.array_equal(np.clip(v + total.zero_point, total.low, total.high), PAIR_SUMS[rounding](total, A, B))


def test_sums_of_tflm_mostly_have_a_form_of_32_bits() -> None:
    assert pair_sum_form(PLAIN, BYTES, BYTES, "tflm") is not None


def test_16_bits_are_shifted_by_15() -> None:
    wide = replace(PLAIN, wide=True, low=-(2**15), high=2**15 - 1)
    assert (input_shift(PLAIN), input_shift(wide)) == (20, 15)
    twice = 2 * wide.b_scale
    for a, b in ((-32768, 32767), (12345, -54), (5, -128)):
        numbers = [int(PAIR_SUMS["tflm"](wide, np.array([a]), np.array([b]))[0])]
        real = (wide.a_scale * (a - 5) + wide.b_scale * (b + 128)) / wide.y_scale - 7
        assert abs(numbers[0] - min(max(real, wide.low), wide.high)) < 1
    assert fixed_multipliers(wide)[2] == fixed_multiplier(twice / (2**15 * wide.y_scale))
    assert pair_sum_form(wide, (-32768, 32767), (-32768, 32767), "tflm") is None
