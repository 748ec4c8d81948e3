"""ArgMax and ArgMin: the C against numpy, in any layout and in tiles; which of equals, and where NaN is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.errors import TilewrightError
from tilewright.operators.reductions.arg import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_checks import kernel_errors
from tilewright.testing.operator_sites import site_of

BY_NAME = {operator.name: operator for operator in OPERATORS}
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
