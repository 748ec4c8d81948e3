"""CumSum and CumProd: the C against numpy in any layout and tile, both directions, each one with and without itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.operators.reductions.cumulative import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

BY_NAME = {operator.name: (operator, kernel) for operator, kernel in zip(OPERATORS, KERNELS, strict=True)}


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "int32", "int64"])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_any_layout_and_tile(name: str, exclusive: int, reverse: int, dtype: str, tmp_path: Path) -> None:
    operator, kernel = BY_NAME[name]
    x = (np.random.default_rng(1).standard_normal((3, 5, 4)) * 20).astype(dtype)
    site = site_of(operator, [x], {"axis": 1, "exclusive": exclusive, "reverse": reverse})
    assert kernel_errors(operator, kernel, site, [x], np.random.default_rng(exclusive), tmp_path) == []


def test_values() -> None:
    x = np.array([1, 2, 3, 4], np.int32)
    wanted = {(0, 0): [1, 3, 6, 10], (0, 1): [10, 9, 7, 4], (1, 0): [0, 1, 3, 6], (1, 1): [9, 7, 4, 0]}
    operator, _ = BY_NAME["CumSum"]
    for (exclusive, reverse), values in wanted.items():
        site = site_of(operator, [x], {"axis": 0, "exclusive": exclusive, "reverse": reverse})
        assert operator.reference(site, [x])[0].tolist() == values
