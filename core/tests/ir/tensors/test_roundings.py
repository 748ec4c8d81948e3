"""The roundings beside Python's own integers and fractions, one sum at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.tensors.requant import Requant, StoredScales, requantise
from tilewright.ir.tensors.roundings import (
    DoubleRounding,
    Float32HalfEven,
    MultiplyShift,
    Rational,
    Rounding,
    fixed_multiplier,
    wrapped,
)

sums = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-300, 300))
few = settings(max_examples=300, deadline=None)


def one(rounding: Rounding, acc: int, scale: float = 1.0) -> int:
    return int(rounding.rounded(np.array([acc], np.int64), np.array([scale]))[0])


def away_from_zero(value: Fraction) -> int:
    """To the nearest, halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + Fraction(1, 2)), value))


@few
@given(scale=st.floats(2.0**-40, 2.0**35))
def test_a_fixed_multiplier_is_the_nearest_of_31_bits(scale: float) -> None:
    multiplier, exponent = fixed_multiplier(scale)
    if scale < 2.0**-32:
        assert (multiplier, exponent) == (0, 0)
    elif scale >= 2.0**30:
        assert (multiplier, exponent) == (2**31 - 1, 30)
    else:
        assert 2**30 <= multiplier < 2**31
        apart = Fraction(multiplier) * Fraction(2) ** (exponent - 31) - Fraction(scale)
        assert abs(apart) * 2 <= Fraction(2) ** (exponent - 31)


@pytest.mark.parametrize(("scale", "expected"), [
    (0.0, (0, 0)), (1.0, (2**30, 1)), (0.5, (2**30, 0)), (0.75, (3 * 2**29, 0)),
    (1 - 2.0**-40, (2**30, 1)), (2.0**-32, (2**30, -31)), (2.0**-33, (0, 0)), (2.0**30, (2**31 - 1, 30)),
])  # fmt: skip
def test_multipliers_at_the_edges(scale: float, expected: tuple[int, int]) -> None:
    assert fixed_multiplier(scale) == expected


@few
@given(acc=sums, scale=st.floats(2.0**-20, 0.999))
def test_double_rounding(acc: int, scale: float) -> None:
    multiplier, exponent = fixed_multiplier(scale)
    high = math.floor(Fraction(acc * multiplier + 2**30, 2**31))
    assert one(DoubleRounding(), acc, scale) == away_from_zero(Fraction(high, 2**-exponent))


@few
@given(acc=st.integers(-(2**20), 2**20), scale=st.floats(1.0, 1000.0))
def test_double_rounding_of_scales_above_one(acc: int, scale: float) -> None:
    multiplier, exponent = fixed_multiplier(scale)
    assert one(DoubleRounding(), acc, scale) == math.floor(Fraction((acc << exponent) * multiplier + 2**30, 2**31))


def test_double_rounding_is_not_one_rounding() -> None:
    """The first rounding makes a half, which the second takes away from zero."""
    multiplier, exponent = fixed_multiplier(0.249999999)
    acc, exact = 2, Fraction(2 * multiplier) * Fraction(2) ** (exponent - 31)
    assert exact < Fraction(1, 2) and one(DoubleRounding(), acc, 0.249999999) == 1


@few
@given(acc=sums, above=st.integers(1, 2**40), below=st.integers(1, 2**40))
def test_rational(acc: int, above: int, below: int) -> None:
    rounding = Rational(numerator=(above,), denominator=(below,))
    assert one(rounding, acc) == round(Fraction(acc * above, below))  # Fraction rounds halves to even


shifts: Any = st.fixed_dictionaries({
    "multiplier": st.tuples(st.integers(-(2**15), 2**31 - 1)), "addend": st.tuples(st.integers(-(2**31), 2**31 - 1)),
    "shift": st.tuples(st.integers(0, 31)), "rounding": st.sampled_from(["floor", "half-up", "half-even"]),
    "bits": st.sampled_from([32, 48, 64]), "overflow": st.sampled_from(["wraps", "saturates"]),
})  # fmt: skip


def fitted(value: int, bits: int, overflow: str) -> int:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return min(max(value, low), high) if overflow == "saturates" else (value - low) % 2**bits + low


@few
@given(acc=sums, made=shifts)
def test_multiply_shift(acc: int, made: dict[str, Any]) -> None:
    (multiplier,), (addend,), (shift,) = made["multiplier"], made["addend"], made["shift"]
    bits, overflow = made["bits"], made["overflow"]
    value = fitted(fitted(acc * multiplier, bits, overflow) + addend, bits, overflow)
    if made["rounding"] == "floor" or not shift:
        constant = 0
    else:
        odd = (value >> shift) & 1
        constant = 2 ** (shift - 1) if made["rounding"] == "half-up" else 2 ** (shift - 1) - 1 + odd
    expected = fitted(value + constant, bits, overflow) >> shift
    assert one(MultiplyShift(**made), acc) == expected


def test_channels_have_numbers_of_their_own() -> None:
    rounding = MultiplyShift(multiplier=(1, 3), shift=(1,), addend=(0, 4))
    requant = Requant(scale=(0.5, 1.5), zero_point=1, low=-128, high=127, rounding=rounding)
    assert requantise(np.array([[5, 5], [-5, 6]]), requant, 1).tolist() == [[4, 11], [-1, 12]]
    other = requant.of_channels((1, 0, 1))
    assert other.scale == (1.5, 0.5, 1.5)
    assert other.rounding == MultiplyShift(multiplier=(3, 1, 3), shift=(1,), addend=(4, 0, 4))


def test_stored_scales_of_channels_and_of_counts() -> None:
    by_channel = StoredScales(x=0.5, w=(0.25, 0.75), y=2.0)
    assert by_channel.ratios() == (Fraction(1, 16), Fraction(3, 16))
    assert StoredScales(x=0.5, y=0.25, terms=(1, 2, 3)).ratios() == (2, 1, Fraction(2, 3))


@pytest.mark.parametrize(("rounding", "name"), [
    (Float32HalfEven(), "onnx"), (DoubleRounding(), "tflm"),
    (Rational(numerator=(1,), denominator=(3,)), "rational"),
    (MultiplyShift(multiplier=(1,), shift=(0,)), "multiply-shift"),
])  # fmt: skip
def test_names(rounding: Rounding, name: str) -> None:
    assert rounding.name == name


def test_a_register_wraps_around() -> None:
    assert wrapped(np.array([2**31, -(2**31) - 1, 5]), 32).tolist() == [-(2**31), 2**31 - 1, 5]
