"""Softmax of 16 bits: tables as they are defined, and rows written out in fractions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tilewright.arithmetic import wide_softmax


@pytest.mark.parametrize("x_scale", [1e-5, 0.003])
def test_a_product_of_two_factors_is_the_exponential(x_scale: float) -> None:
    table = wide_softmax.factors(x_scale).astype(np.int64)
    assert table.shape == (512,) and table[0] == table[256] == 2**31
    for below in (0, 1, 255, 256, 1000, 65535):
        product = (table[below // 256] * table[256 + below % 256] + 2**30) >> 31
        assert abs(int(product) - math.exp(-below * x_scale) * 2**31) <= 2


def test_a_row_sums_to_one() -> None:
    x = np.array([300, -5, 300, 120], np.int64)
    row = wide_softmax.exact_row(x, wide_softmax.factors(0.01).astype(np.int64), 2.0**-16)
    assert row[0] == row[2] and abs(int(row.sum()) - 2**16) <= 2


def test_lines_begin_where_half_of_their_error_in_the_middle_is_gone() -> None:
    squares = wide_softmax.lines(lambda x: x * x, 0, 0.5)
    middle, end = ((at / 1024) ** 2 * 2**15 for at in (256.5, 256))
    line = (int(squares[256]) + int(squares[257])) / 2
    assert abs(line - middle) <= 1 and abs(int(squares[256]) - end) <= 1
    assert wide_softmax.lines(np.exp, -10, 0)[-1] == 2**15 - 1  # 1, as far as 16 bits hold it


def test_tables_of_tflm_are_an_exponential_and_a_reciprocal() -> None:
    tables = wide_softmax.fixed_tables()
    assert tables.dtype == np.int16 and tables.shape == (1026,)
    assert abs(int(tables[256]) - math.exp(-5) * 2**15) <= 1
    assert abs(int(tables[513 + 256]) - 2**15 / 1.5) <= 1


def test_equal_values_share_a_row() -> None:
    table = wide_softmax.fixed_tables().astype(np.int64)
    row = wide_softmax.fixed_row(np.full(4, 17), table, 1e-3)
    assert len(set(row.tolist())) == 1 and abs(int(row[0]) - 2**13) <= 2
    one = wide_softmax.fixed_row(np.array([5]), table, 1e-3)
    assert one.tolist() == [2**15 - 1]


def test_numbers_are_those_of_the_rescaled_differences() -> None:
    multiplier, exponent = wide_softmax.fixed_numbers(10 / 65535)
    assert (multiplier, exponent) == (2**30, 1)
