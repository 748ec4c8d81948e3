"""TopK: the C against numpy in any layout and tile, equals in order, NaN larger than every number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.operators.reductions.top_k import KERNELS, OPERATORS, TOP_K, TOP_K_PORTABLE
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "int64"])
@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize("k", [0, 1, 4, 9])
def test_any_layout_and_tile(k: int, largest: int, dtype: str, tmp_path: Path) -> None:
    x = np.random.default_rng(k).integers(0, 6, (4, 9, 3)).astype(dtype)
    if dtype == "float32":
        x[1, 2:5, 1] = np.nan, np.inf, np.nan
    site = site_of(TOP_K, [x], {"axis": 1, "k": k, "largest": largest})
    assert kernel_errors(TOP_K, TOP_K_PORTABLE, site, [x], np.random.default_rng(largest), tmp_path) == []


def test_the_first_of_equals_comes_first() -> None:
    x = np.array([3, 1, 3, 1], np.int8)
    for largest, wanted in ((1, [0, 2, 1]), (0, [1, 3, 0])):
        site = site_of(TOP_K, [x], {"axis": 0, "k": 3, "largest": largest})
        assert TOP_K.reference(site, [x])[1].tolist() == wanted


def test_more_than_there_are() -> None:
    with pytest.raises(TilewrightError, match="5 elements or more"):
        site_of(TOP_K, [np.zeros(4, np.int8)], {"axis": 0, "k": 5})


BY_NAME = {operator.name: operator for operator in OPERATORS if operator.name in ("ArgMax", "ArgMin")}
KERNEL_OF = {kernel.op: kernel for kernel in KERNELS}
few = settings.get_profile("programs")


@pytest.mark.slow
@few
@given(data=st.data(), op=st.sampled_from([*BY_NAME]), seed=st.integers(0, 2**32))
def test_c_equals_reference(data: st.DataObject, op: str, seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    shape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    x = random.integers(0, 4, shape).astype(data.draw(st.sampled_from(["float32", "int8", "uint8", "int32"])))
    if x.dtype == np.float32:
        x = np.where(random.integers(6, size=shape) == 0, np.float32("nan"), x)
    attributes = {
        "axis": data.draw(st.integers(0, len(shape) - 1)),
        "keepdims": data.draw(st.integers(0, 1)),
        "select_last_index": data.draw(st.integers(0, 1)),
    }
    site = site_of(BY_NAME[op], [x], attributes)
    assert kernel_errors(BY_NAME[op], KERNEL_OF[op], site, [x], random, tmp_path) == []


@pytest.mark.parametrize(("last", "position"), [(0, 1), (1, 3)])
@pytest.mark.parametrize("x", [[0, 2, 1, 2], [0, np.nan, 5, np.nan]])
def test_which_of_equals(x: list[float], last: int, position: int) -> None:
    array = np.array([x], np.float32)
    site = site_of(BY_NAME["ArgMax"], [array], {"axis": 1, "keepdims": 0, "select_last_index": last})
    assert BY_NAME["ArgMax"].reference(site, [array])[0].tolist() == [position]


def test_an_axis_without_elements_is_refused() -> None:
    with pytest.raises(TilewrightError, match="no element"):
        site_of(BY_NAME["ArgMin"], [np.zeros((2, 0), np.float32)], {"axis": 1})
