"""Pow: accuracy over all floats, special values, integers of every kind, and what constant exponents become."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.operators.elementwise.power import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import result_errors, site_of

(POW,), (KERNEL,) = OPERATORS, KERNELS
EDGES = np.array(
    [
        *(0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-126), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1 / 3, 0.9999999),
        *(1.0000001, -1.0000001, 2.0**24, 2.0**24 + 2, -(2.0**24) - 2, 3.4e38, -3.4e38, 127.99999, -149.5),
    ],
    np.float32,
)


def some_floats(seed: int, count: int) -> npt.NDArray[np.float32]:
    bits = np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32)
    return bits.view(np.float32)


def test_accuracy(tmp_path: Path) -> None:
    base = np.abs(some_floats(1, 200_000))
    small = np.random.default_rng(2).uniform(-130, 130, base.size) / np.log2(np.maximum(base, 2.0**-140))
    inputs = [base, small.astype(np.float32)]
    site = site_of(POW, inputs)
    (y,) = run_kernel(POW, KERNEL, site, inputs, folder=tmp_path)
    assert result_errors(POW, site, inputs, [y]) == []


@pytest.mark.parametrize("dtype", ["float32", "int8", "int32", "uint32", "int64"])
def test_every_float_to_every_power(dtype: str, tmp_path: Path) -> None:
    exponents = EDGES if dtype == "float32" else np.array([0, 1, 2, 3, 7, 127], dtype)
    if dtype[0] == "i":
        exponents = np.concatenate([exponents, np.array([-1, -2, -3], dtype)])
    inputs = [np.concatenate([EDGES, some_floats(3, 50)]).reshape(-1, 1), exponents]
    assert kernel_errors(POW, KERNEL, site_of(POW, inputs), inputs, np.random.default_rng(4), tmp_path) == []


@pytest.mark.parametrize("exponent", ["int8", "uint32", "int64", "float32"])
@pytest.mark.parametrize("base", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integers_wrap(base: str, exponent: str, tmp_path: Path) -> None:
    info = np.iinfo(base)
    some = np.array([info.min, max(info.min, -3), max(info.min, -1), 0, 1, 2, 3, 9, info.max], base)
    powers = np.array([0, 1, 2, 3, 5, 31, 63], exponent)
    if exponent[0] in "if":
        powers = np.concatenate([powers, np.array([-1, -2, -3], exponent)])
    if exponent == "float32":
        powers = np.concatenate([powers, np.array([0.5, -0.5, 1.5, np.nan, np.inf, -np.inf], np.float32)])
    inputs = [some.reshape(-1, 1), powers]
    assert kernel_errors(POW, KERNEL, site_of(POW, inputs), inputs, np.random.default_rng(6), tmp_path) == []


def test_integers_against_independent_values() -> None:
    inputs = [np.array([2, -2, 4, 27, 9, -8, 1, -1, 0], np.int32), np.array([10, 3, 0.5, 1 / 3, 1.5, 0.5, -4, -3, -1])]
    inputs[1] = inputs[1].astype(np.float32)
    wanted = [1024, -8, 2, 3, 27, 0, 1, -1, 0]
    assert POW.reference(site_of(POW, inputs), inputs)[0].tolist() == wanted
