"""Accumulator ranges: exact, reached, and never left by a partial sum."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.arithmetic.bounds import AccumulatorBounds, accumulator_bits, dot_bounds, product_bounds, value_range
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant

small = st.integers(-5, 5)


@settings(max_examples=60, deadline=None)
@given(weights=st.lists(small, min_size=1, max_size=4), bias=small, ends=st.tuples(small, small), padding=small)
def test_bounds_are_exact_and_hold_for_partial_sums(
    weights: list[int], bias: int, ends: tuple[int, int], padding: int
) -> None:
    low, high = sorted(ends)
    bounds = dot_bounds(np.asarray([weights]), np.asarray([bias]), (low, high), (padding,))
    extremes = [min(low, padding), max(high, padding)]
    products = [[w * x for w, x in zip(weights, xs, strict=True)] for xs in product(extremes, repeat=len(weights))]
    sums = [bias + sum(terms) for terms in products]
    assert (bounds.lowest, bounds.highest) == ((min(sums),), (max(sums),))
    partial = [sum(order[:n]) for terms in products for order in permutations((bias, *terms)) for n in range(6)]
    assert bounds.partial_lowest[0] <= min(partial) and max(partial) <= bounds.partial_highest[0]


@pytest.mark.parametrize(("ends", "bits"), [
    ((-(2**31), 2**31 - 1), 32), ((-(2**31) - 1, 0), 64), ((0, 2**31), 64), ((-(2**62), 2**62 - 1), 64),
    ((0, 2**62), 65), ((-(2**70), 0), 72),
])  # fmt: skip
def test_widths(ends: tuple[int, int], bits: int) -> None:
    bounds = AccumulatorBounds(lowest=(0,), highest=(0,), partial_lowest=(0, ends[0]), partial_highest=(0, ends[1]))
    assert bounds.bits == bits
    if bits <= 64:
        assert accumulator_bits(bounds, "conv") == bits
        return
    with pytest.raises(TilewrightError) as caught:
        accumulator_bits(bounds, "conv")
    assert (caught.value.code, caught.value.where) == ("TW3101", "conv")
    assert caught.value.exit_code is Exit.UNSUPPORTED and caught.value.fix


def test_products() -> None:
    bounds = product_bounds((-3, 5), (-7, 2), terms=4)
    assert (bounds.lowest, bounds.highest) == ((-140,), (84,))
    assert product_bounds((2, 3), (4, 5)).partial_lowest == (0,)


def test_a_fused_clip_narrows_the_next_layer() -> None:
    relu = Requant(scale=(1.0,), zero_point=-10, low=-10, high=100)
    assert value_range(DType.I8, relu) == (-10, 100)
    assert value_range(DType.U8) == (0, 255)
