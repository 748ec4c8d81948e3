"""Scatter: the C against the reference for every reduction and type; places that are none; sharing bytes with X."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.movement.scatter import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import refusal, result_errors, site_of

(SCATTER,), (KERNEL,) = OPERATORS, KERNELS


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int32", "int64", "uint64", "bool"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_every_reduction(reduction: str, dtype: str, tmp_path: Path) -> None:
    numbers = np.random.default_rng(len(reduction))
    x, updates = (numbers.integers(0, 120, shape).astype(dtype) for shape in ((4, 6), (7, 3)))
    inputs = [x, np.array([0, 21, 3, 3, -1, 22, 9]), updates]  # one twice, one none, one that does not fit
    site = site_of(SCATTER, inputs, {"reduction": reduction, "slice": 3})
    if dtype == "bool" and reduction != "none":
        assert "bool" in str(refusal(KERNEL, site))
        return
    (y,) = run_kernel(SCATTER, KERNEL, site, inputs, folder=tmp_path)
    assert result_errors(SCATTER, site, inputs, [y]) == []


def test_later_updates_win_and_none_is_made_outside() -> None:
    inputs = [np.zeros(4, np.float32), np.array([1, 1, -1, 4]), np.array([5, 6, 7, 8], np.float32)]
    site = site_of(SCATTER, inputs, {"reduction": "none", "slice": 1})
    assert SCATTER.reference(site, inputs)[0].tolist() == [0, 6, 0, 0]


def test_updates_that_do_not_fit() -> None:
    inputs = [np.zeros(4, np.float32), np.array([1, 1]), np.zeros(3, np.float32)]
    with pytest.raises(TilewrightError, match="3 elements for 2 places"):
        site_of(SCATTER, inputs, {"reduction": "none", "slice": 1})
