"""Layers whose details decide a step: zero points, what a pool counts, weights of an interpolation, large means."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tilewright.comparison.exact.layers import (
    average_pool,
    interpolated,
    matmul_integer,
    reduction,
    rows_normalised,
    softmax_of,
)
from tilewright.comparison.exact.rationals import NotExact, Rationals, rationals
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES
from tilewright.testing.operator_sites import site_of

OPERATORS: dict[str, Operator] = {item.name: item for name in FAMILIES for item in import_module(name).OPERATORS}


def site(op: str, arrays: list[Any], **attributes: Any) -> Site:
    return site_of(OPERATORS[op], [np.asarray(array) for array in arrays], attributes)


def given(arrays: list[Any]) -> list[Rationals]:
    return [rationals(np.asarray(array)) for array in arrays]


@pytest.mark.parametrize(("include", "first"), [(0, Fraction(3, 2)), (1, 1)])
def test_a_pool_counts_what_is_inside(include: int, first: Fraction) -> None:
    arrays = [np.array([[[1, 2, 4, 2]]], np.float32)]
    window = {"kernel_shape": (3,), "strides": (1,), "dilations": (1,), "pads": (1, 0), "ceil_mode": 0}
    found = average_pool(site("AveragePool", arrays, **window, count_include_pad=include), given(arrays))
    assert [found.at((0, 0, at)) for at in range(3)] == [first, Fraction(7, 3), Fraction(8, 3)]


def test_zero_points_of_columns() -> None:
    zeros = [np.array([5], np.int8), np.array([1, 0], np.int8)]
    arrays = [np.array([[5, 7]], np.int8), np.array([[1, 2], [3, 4]], np.int8), *zeros]
    found = matmul_integer(site("MatMulInteger", arrays), given(arrays))
    assert found.numerators.tolist() == [[4, 8]]
    with pytest.raises(NotExact, match="each row"):
        matmul_integer(site("MatMulInteger", arrays), [*given(arrays[:2]), rationals(np.zeros(2)), rationals(0)])


def test_an_interpolation_in_thirds() -> None:
    arrays = [np.array([[[0, 1]]], np.float32)]
    line = {"sizes": (4,), "slopes": (1,), "offsets": (0,), "divisors": (3,)}
    found = interpolated(site("ResizeLinear", arrays, **line), given(arrays))
    assert [found.at((0, 0, at)) for at in range(4)] == [0, Fraction(1, 3), Fraction(2, 3), 1]


def test_means_of_thirds() -> None:
    arrays = [np.array([[1, 2, 2]], np.float32)]
    found = reduction(site("ReduceMean", arrays, axes=(1,), keepdims=0), given(arrays))
    assert found.at((0,)) == Fraction(5, 3)


def test_a_constant_row_and_a_large_mean() -> None:
    arrays = [np.array([[1000.1] * 3, [1e6, 1e6 + 1, 1e6 + 2]], np.float32)]
    found = rows_normalised(site("LayerNormalization", arrays, epsilon=1e-5), given(arrays))
    assert not any(found.numerators[0])
    np.testing.assert_allclose(found.floats()[1], np.array([-1, 0, 1]) / np.sqrt(2 / 3 + 1e-5), rtol=1e-9)


def test_shares_along_an_axis() -> None:
    arrays = [np.array([[0, 0], [3, -3]], np.float32)]
    found = softmax_of(site("Softmax", arrays, axis=0), given(arrays)).floats()
    np.testing.assert_allclose(found.sum(axis=0), 1)
