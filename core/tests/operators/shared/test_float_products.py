"""Float products hold each type to its own error, and do not mix them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tilewright.operators.products.matmul import MATMUL, MATMUL_F32
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, result_errors, site_of


def test_float64_is_held_to_its_own_error(tmp_path: Path) -> None:
    """What float32 would lose is far outside."""
    random = np.random.default_rng(3)
    a, b = random.standard_normal((6, 40)), random.standard_normal((40, 5))
    site = site_of(MATMUL, [a, b])
    found = run_kernel(MATMUL, MATMUL_F32, site, [a, b], folder=tmp_path)
    assert found[0].dtype == np.float64
    assert result_errors(MATMUL, site, [a, b], found) == []
    assert result_errors(MATMUL, site, [a, b], [found[0].astype(np.float32).astype(np.float64)])


def test_types_are_not_mixed() -> None:
    a, b = np.ones((2, 3)), np.ones((3, 4), np.float32)
    assert refusal(MATMUL_F32, site_of(MATMUL, [a, b])) == "values must all be of one float type, found f32, f64"
