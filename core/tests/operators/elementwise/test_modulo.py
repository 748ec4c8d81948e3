"""Mod: the sign of the divisor or of the dividend, zeros and infinities, bit by bit as numpy has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.operators.elementwise.modulo import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(MOD,), (KERNEL,) = OPERATORS, KERNELS


@pytest.mark.parametrize("fmod", [0, 1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_integers(dtype: str, fmod: int, tmp_path: Path) -> None:
    info = np.iinfo(dtype)
    some = [info.min, max(info.min, -7), 0, 1, 3, 7, info.max, *([-1] if info.min else [])]
    inputs = [np.array(some, dtype).reshape(-1, 1), np.array(some, dtype)]
    site = site_of(MOD, inputs, {"fmod": fmod})
    assert kernel_errors(MOD, KERNEL, site, inputs, np.random.default_rng(fmod), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fmod", [0, 1])
def test_floats_are_exact(fmod: int, tmp_path: Path) -> None:
    bits = np.random.default_rng(5).integers(0, 2**32, 400, dtype=np.uint64).astype(np.uint32).view(np.float32)
    edges = [0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-126), 1, -1, 0.3, 3.4e38, -3.4e38, 7.5, -2.5]
    some = np.concatenate([bits, np.array(edges, np.float32)])
    inputs = [some.reshape(-1, 1), some]
    site = site_of(MOD, inputs, {"fmod": fmod})
    assert kernel_errors(MOD, KERNEL, site, inputs, np.random.default_rng(fmod), tmp_path) == []
