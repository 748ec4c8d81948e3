"""The rows of a QSoftmax."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.operators.quantised.qsoftmax import QSOFTMAX
from tilewright.operators.quantised.softmax_rows import axis_of, softmax_map
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize(("axis", "found", "text"), [
    (-1, 2, "a0 a1 : X[a0,a1,:] T[:] -> Y[a0,a1,:]"), (0, 0, "a1 a2 : X[:,a1,a2] T[:] -> Y[:,a1,a2]"),
])  # fmt: skip
def test_rows_are_read_whole(axis: int, found: int, text: str) -> None:
    site = site_of(QSOFTMAX, [np.zeros((2, 3, 4), np.int8)], {"axis": axis, "low": -128, "high": 127})
    assert axis_of(site) == found
    assert softmax_map(site, "T[:]") == text
