"""What layers of floats share: types that fit."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import site_of
from tilewright.operators.products.gemm import GEMM
from tilewright_snitch.kernels.layers import not_floats, not_halves


@pytest.mark.parametrize(
    ("dtype", "floats", "halves"),
    [
        (np.float32, None, "values must all be f16 or all bf16, found f32"),
        (np.float64, None, "values must all be f16 or all bf16, found f64"),
        (np.float16, "values must all be f32 or all f64, found f16", None),
    ],
)
def test_floats_of_one_type_are_taken(dtype: type, floats: str | None, halves: str | None) -> None:
    site = site_of(GEMM, [np.zeros((2, 4), dtype), np.zeros((4, 3), dtype)], {}, (1,))
    assert (not_floats(site), not_halves(site)) == (floats, halves)
