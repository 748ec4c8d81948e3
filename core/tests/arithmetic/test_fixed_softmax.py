"""Softmax in fixed point beside real numbers, and its parts beside their definitions in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.fixed_softmax import (
    LONGEST,
    divide_by_power,
    exponential,
    exponentials,
    multiply_high,
    reciprocal,
    row,
)


@given(a=st.integers(-(31 << 26), 0))
def test_the_exponential_is_close(a: int) -> None:
    assert abs(exponential(a) / 2**31 - math.exp(a / 2**26)) < 3e-7


@given(total=st.integers(2**19, 2**31 - 1))
def test_the_reciprocal_is_close(total: int) -> None:
    scale, zeros = reciprocal(total)
    assert 0 < scale < 2**31
    assert abs(scale / 2**31 * (total * 2**zeros / 2**31) / 2 - 0.5) < 1e-6 or scale == 2**31 - 1


@given(a=st.integers(-(2**31), 2**31 - 1), b=st.integers(-(2**31) + 1, 2**31 - 1), exponent=st.integers(0, 31))
def test_products_and_quotients(a: int, b: int, exponent: int) -> None:
    assert multiply_high(a, b) == math.floor(Fraction(a * b + 2**30, 2**31))
    away = math.floor(abs(Fraction(a, 2**exponent)) + Fraction(1, 2))
    assert divide_by_power(a, exponent) == (-away if a < 0 else away)


def table(x_scale: float) -> np.ndarray:
    padded = np.zeros(256, np.int64)
    padded[: len(exponentials(x_scale))] = exponentials(x_scale)
    return padded


@settings(max_examples=60, deadline=None)
@given(
    x_scale=st.floats(2.0**-10, 0.5, width=32),
    values=st.lists(st.integers(-128, 127), min_size=1, max_size=60).map(lambda items: np.array(items, np.int64)),
)
def test_a_row_is_softmax_to_a_step(x_scale: float, values: np.ndarray) -> None:
    real = np.exp((values - values.max()) * x_scale)
    expected = real / real.sum() * 256
    assert np.abs(np.clip(row(values, table(x_scale), 0), 0, 255) - np.clip(expected, 0, 255)).max() <= 1


def test_known_rows() -> None:
    """By hand: equal values share 256 steps; one value alone has them all; what lies far below counts for nothing."""
    assert row(np.zeros(8, np.int64), table(0.1), -128).tolist() == [-96] * 8
    assert row(np.zeros(1, np.int64), table(0.1), -128).tolist() == [128]
    assert row(np.array([0, -200]), table(0.2), -128).tolist() == [128, -128]
    assert len(exponentials(0.25)) == 63  # 31 * 2**26 / 2**25 is 62


def test_the_longest_row_of_equal_values() -> None:
    assert row(np.zeros(LONGEST, np.int64), table(0.1), 0).tolist() == [1] * LONGEST  # 256 / 511, halves up


@pytest.mark.parametrize(("x_scale", "entries"), [(1.0, 16), (0.99, 32), (0.01, 256)])
def test_how_far_exponentials_count(x_scale: float, entries: int) -> None:
    assert len(exponentials(x_scale)) == entries
