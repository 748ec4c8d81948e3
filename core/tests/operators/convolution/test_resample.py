"""Resample: the C against the reference along every axis, in any layout and tile; tables that leave the input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.convolution.resample import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(RESAMPLE,), (KERNEL,) = OPERATORS, KERNELS


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_axis_layout_and_tile(axis: int, tmp_path: Path) -> None:
    numbers = np.random.default_rng(axis)
    x = numbers.standard_normal((5, 6, 7)).astype(np.float32)
    inputs = [x, np.array([0, 2, 1, 2], np.int32), numbers.standard_normal((4, 3)).astype(np.float32)]
    site = site_of(RESAMPLE, inputs, {"axis": axis}, constants=(1, 2))
    assert site.output.shape == tuple(4 if at == axis else extent for at, extent in enumerate(x.shape))
    assert kernel_errors(RESAMPLE, KERNEL, site, inputs, numbers, tmp_path) == []


@pytest.mark.parametrize(
    ("first", "axis", "constants", "reason"),
    [
        ([0, 3], 0, (1, 2), "outside X"),
        ([-1, 0], 0, (1, 2), "outside X"),
        ([0, 1], 1, (1, 2), "no axis 1"),
        ([0, 1], 0, (), "must be constants"),
    ],
)
def test_tables_that_do_not_fit(first: list[int], axis: int, constants: tuple[int, ...], reason: str) -> None:
    inputs = [np.zeros(4, np.float32), np.array(first, np.int32), np.zeros((2, 2), np.float32)]
    with pytest.raises(TilewrightError, match=reason):
        site_of(RESAMPLE, inputs, {"axis": axis}, constants=constants)
