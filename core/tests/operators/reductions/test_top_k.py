"""TopK: the C against numpy in any layout and tile, equals in order, NaN larger than every number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.operators.reductions.top_k import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

(TOP_K,), (KERNEL,) = OPERATORS, KERNELS


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int64"])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_any_layout_and_tile(k: int, largest: int, dtype: str, tmp_path: Path) -> None:
    x = np.random.default_rng(k).integers(0, 6, (4, 9, 3)).astype(dtype)
    if dtype == "float32":
        x[1, 2:5, 1] = np.nan, np.inf, np.nan
    site = site_of(TOP_K, [x], {"axis": 1, "k": k, "largest": largest})
    assert kernel_errors(TOP_K, KERNEL, site, [x], np.random.default_rng(largest), tmp_path) == []


def test_the_first_of_equals_comes_first() -> None:
    x = np.array([3, 1, 3, 1], np.int8)
    for largest, wanted in ((1, [0, 2, 1]), (0, [1, 3, 0])):
        site = site_of(TOP_K, [x], {"axis": 0, "k": 3, "largest": largest})
        assert TOP_K.reference(site, [x])[1].tolist() == wanted


def test_more_than_there_are() -> None:
    with pytest.raises(TilewrightError, match="5 elements or more"):
        site_of(TOP_K, [np.zeros(4, np.int8)], {"axis": 0, "k": 5})
