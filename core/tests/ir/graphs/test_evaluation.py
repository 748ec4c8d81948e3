"""References are given float32 for floats of 16 bits, and what they give is rounded once."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.graphs.evaluation import allowed, results
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.elementwise.binary import OPERATORS
from tilewright.operators.products.matmul import MATMUL
from tilewright.testing.operator_sites import site_of

ADD = OPERATORS[0]
halves = pytest.mark.parametrize("dtype", [DType.F16, DType.BF16], ids=lambda dtype: dtype.value)


@halves
def test_a_sum_is_rounded_once(dtype: DType) -> None:
    one, small = np.ones((1, 4), dtype.numpy), np.full((4, 1), dtype.unit / 2, dtype.numpy)
    pair = [np.concatenate([one, np.array([[1, 1]], dtype.numpy)], 1), np.concatenate([small, small[:2]])]
    pair[0][0, 1:5] = dtype.unit / 2
    (y,) = results(MATMUL, site_of(MATMUL, pair), pair)
    assert y.dtype == dtype.numpy
    exact = (pair[0].astype(np.float64) @ pair[1].astype(np.float64)).astype(np.float32)
    assert y.tolist() == exact.astype(dtype.numpy).tolist()


@halves
def test_what_float32_may_be_off_may_turn_a_rounding(dtype: DType) -> None:
    pair = [np.ones((1, 1), dtype.numpy), np.ones((1, 1), dtype.numpy)]
    (limit,) = allowed(MATMUL, site_of(MATMUL, pair), pair)
    assert limit is not None
    assert limit.item() == 0  # far from any rounding
    half = np.array([[1, dtype.unit]], dtype.numpy), np.ones((2, 1), dtype.numpy)
    (limit,) = allowed(MATMUL, site_of(MATMUL, list(half)), list(half))
    assert limit is not None
    assert limit.item() == 2 * dtype.unit


@halves
def test_infinity_may_be_reached_where_rounding_may(dtype: DType) -> None:
    largest = np.array([[np.float32(65504 if dtype is DType.F16 else 3.3895314e38)]]).astype(dtype.numpy)
    pair = [largest, np.full((1, 1), 2, dtype.numpy)]
    assert np.isinf(results(ADD, site_of(ADD, [largest, largest]), [largest, largest])[0]).all()
    assert np.isinf(results(MATMUL, site_of(MATMUL, pair), pair)[0]).all()


def test_other_types_are_as_they_were() -> None:
    pair = [np.array([1.5], np.float32), np.array([2.0], np.float32)]
    site = site_of(ADD, pair)
    assert results(ADD, site, pair)[0].tolist() == [3.5]
    assert allowed(ADD, site, pair)[0] is not None
