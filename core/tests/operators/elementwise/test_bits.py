"""Bitwise operators and shifts: every kind of integer against numpy, counts beyond the width among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.operators.elementwise.bits import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}
TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def edges(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([info.min, max(info.min, -3), 0, 1, 5, info.max - 1, info.max], dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["BitwiseAnd", "BitwiseOr", "BitwiseXor"])
def test_bit_by_bit(name: str, dtype: str, tmp_path: Path) -> None:
    inputs = [edges(dtype).reshape(-1, 1), edges(dtype)]
    operator, kernel = BY_NAME[name]
    assert kernel_errors(operator, kernel, site_of(operator, inputs), inputs, np.random.default_rng(1), tmp_path) == []


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
def test_shifts(direction: str, dtype: str, tmp_path: Path) -> None:
    width = 8 * np.dtype(dtype).itemsize
    counts = [0, 1, 3, width - 1, width, width + 1, 100]
    inputs = [edges(dtype).reshape(-1, 1), np.array([*counts, *([-1] if dtype[0] == "i" else [])], dtype)]
    operator, kernel = BY_NAME["BitShift"]
    site = site_of(operator, inputs, {"direction": direction})
    assert kernel_errors(operator, kernel, site, inputs, np.random.default_rng(2), tmp_path) == []


def test_to_the_right_is_a_division_that_rounds_down() -> None:
    inputs = [np.array([-5, -1, 5], np.int32), np.array([1], np.int32)]
    operator, _ = BY_NAME["BitShift"]
    site = site_of(operator, inputs, {"direction": "RIGHT"})
    assert operator.reference(site, inputs)[0].tolist() == [-3, -1, 2]
