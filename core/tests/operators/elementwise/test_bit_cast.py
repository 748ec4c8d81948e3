"""BitCast: every pair of types of one size, there and back, numbers that are none among them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.elementwise.bit_cast import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import refusal, site_of

(BITS,), (KERNEL,) = OPERATORS, KERNELS
PAIRS = [("float32", "i32"), ("float32", "u32"), ("int32", "f32"), ("uint32", "f32"), ("int8", "u8"), ("bool", "i8"),
         ("uint16", "i16"), ("int64", "u64"), ("float32", "f32")]  # fmt: skip


@pytest.mark.parametrize(("dtype", "to"), PAIRS)
def test_any_layout_and_tile(dtype: str, to: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    x = random.integers(0, 2 if dtype == "bool" else 256, (3, 5 * size)).astype(np.uint8).view(dtype)
    if dtype == "float32":
        x.reshape(-1)[:4] = [np.nan, np.inf, -0.0, 1e-45]
    site = site_of(BITS, [x], {"to": to})
    assert kernel_errors(BITS, KERNEL, site, [x], random, tmp_path) == []


@pytest.mark.parametrize(("dtype", "to"), [("float32", "i16"), ("uint8", "bool")])
def test_types_that_do_not_fit(dtype: str, to: str) -> None:
    with pytest.raises(TilewrightError, match="bit by bit"):
        site_of(BITS, [np.zeros(4, dtype)], {"to": to})


def test_doubles_are_for_constants_alone() -> None:
    assert "f64" in str(refusal(KERNEL, site_of(BITS, [np.zeros(4, np.float64)], {"to": "i64"})))
