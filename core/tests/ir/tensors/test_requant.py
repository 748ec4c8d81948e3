"""The exact formula of requantisation: halves to even, limits last, scales by channel."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.tensors.requant import Requant, requantise


def one(scale: float, zero_point: int = 0, low: int = -128, high: int = 127) -> Requant:
    return Requant(scale=(scale,), zero_point=zero_point, low=low, high=high)


@pytest.mark.parametrize(("sum_", "result"), [(1, 0), (3, 2), (5, 2), (7, 4), (-1, 0), (-3, -2)])
def test_halves_go_to_even(sum_: int, result: int) -> None:
    assert requantise(np.array([sum_]), one(0.5), 0).tolist() == [result]


def test_limits_come_after_the_zero_point() -> None:
    assert requantise(np.array([-1000, 10, 1000]), one(1.0, 100, -5, 105), 0).tolist() == [-5, 105, 105]
    assert requantise(np.array([2**40]), one(1.0e9), 0).tolist() == [127]


def test_channels_are_along_their_axis() -> None:
    requant = Requant(scale=(1.0, 2.0, 4.0), zero_point=1, low=-128, high=127)
    ones = np.ones((2, 3), np.int64)
    assert requantise(ones, requant, 1).tolist() == [[2, 3, 5]] * 2
    assert requantise(ones.T, requant, 0).tolist() == [[2, 2], [3, 3], [5, 5]]
    assert requantise(ones, requant, -1).tolist() == requantise(ones, requant, 1).tolist()


def test_one_scale_is_that_of_every_channel() -> None:
    assert one(0.5).scales(3) == (0.5, 0.5, 0.5)
    assert Requant(scale=(1.0, 2.0), zero_point=0, low=0, high=1).scales(2) == (1.0, 2.0)


def test_products_are_of_float32() -> None:
    """2^24 + 1 is no float32: the formula rounds it before it multiplies."""
    assert requantise(np.array([2**24 + 1]), one(1.0, 0, 0, 2**30), 0).tolist() == [2**24]
