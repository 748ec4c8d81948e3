"""Scaled sums: in the order of three operators of the file, in any layout and tile, and what does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.quantised.integer_products import (
    CONV_INTEGER,
    CONV_INTEGER_PORTABLE,
    MATMUL_INTEGER,
    MATMUL_INTEGER_PORTABLE,
)
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

UNEVEN = {
    "kernel_shape": (3, 3), "strides": (2, 1), "dilations": (1, 2), "pads": (0, 2, 1, 1), "ceil_mode": 0,
}  # fmt: skip


def numbers(random: np.random.Generator, dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max + 1, shape).astype(dtype)


def scales(random: np.random.Generator, *lengths: int | None) -> list[np.ndarray | None]:
    """S, F and C, of so many elements; 0: a scalar, None: absent."""
    return [
        None if length is None else np.asarray(random.random((length,) if length else ()) + 0.1, np.float32)
        for length in lengths
    ]


@pytest.mark.parametrize("lengths", [(0, None, None), (1, 0, 1), (0, 5, 5), (None, 5, None), (None, 1, 5)], ids=str)
def test_scaled_sums_in_any_layout_and_tile(lengths: tuple[int | None, ...], tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    a, b = numbers(random, "uint8", 3, 1, 4, 6), numbers(random, "int8", 2, 6, 5)
    inputs = [a, b, numbers(random, "uint8", 1), None, *scales(random, *lengths)]
    site = site_of(MATMUL_INTEGER, inputs, constants=(1,))
    assert kernel_errors(MATMUL_INTEGER, MATMUL_INTEGER_PORTABLE, site, inputs, random, tmp_path) == []
    x, w = numbers(random, "uint8", 2, 4, 6, 7), numbers(random, "int8", 5, 4, 3, 3)
    inputs = [x, w, numbers(random, "uint8", 1), None, *scales(random, *lengths)]
    site = site_of(CONV_INTEGER, inputs, {**UNEVEN, "group": 1}, constants=(1,))
    assert kernel_errors(CONV_INTEGER, CONV_INTEGER_PORTABLE, site, inputs, random, tmp_path) == []


def test_scales_round_as_three_operators_do() -> None:
    """In the order of onnxruntime's quantiser: the product of scales, of the sum with it, the bias."""
    random = np.random.default_rng(3)
    a, b = numbers(random, "uint8", 40, 60), numbers(random, "int8", 60, 5)
    p, s, f, c = numbers(random, "uint8", 1), *scales(random, 0, 5, 5)
    (y,) = MATMUL_INTEGER.reference(site_of(MATMUL_INTEGER, [a, b, p, None, s, f, c]), [a, b, p, None, s, f, c])
    sums = (a.astype(np.int32) - p.astype(np.int32)) @ b.astype(np.int32)
    assert y.dtype == np.float32
    assert np.array_equal(y, sums.astype(np.float32) * (s * f) + c)


def test_scales_that_do_not_fit() -> None:
    a, b, one = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8), np.ones(1, np.float32)
    with pytest.raises(TilewrightError, match="S is f32 and has one element\n"):
        site_of(MATMUL_INTEGER, [a, b, None, None, np.ones(4, np.float32)])
    with pytest.raises(TilewrightError, match="F is f32 and has one element, or 4"):
        site_of(MATMUL_INTEGER, [a, b, None, None, one, np.ones(3, np.float32)])
    with pytest.raises(TilewrightError, match="to scaled sums only"):
        site_of(MATMUL_INTEGER, [a, b, None, None, None, None, one])
