"""Arrival: a copy, element by element, of whatever arrives."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tilewright.operators.arrival import ARRIVAL, ARRIVAL_COPY
from tilewright.testing.kernel_run import run_kernel
from tilewright.testing.operator_sites import site_of


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("layout", list(permutations(range(3)))[:3])
def test_it_is_what_arrives(dtype: str, layout: tuple[int, ...], tmp_path: Path) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, 4)).astype(dtype)
    site = site_of(ARRIVAL, [x], {})
    layouts = {"X": layout, "Y": layout}
    (y,) = run_kernel(ARRIVAL, ARRIVAL_COPY, site, [x], folder=tmp_path, layouts=layouts)
    np.testing.assert_array_equal(y, x)


def test_it_is_never_another_name_for_bytes_that_are_there() -> None:
    site = site_of(ARRIVAL, [np.zeros((1, 4), np.float32)], {})
    assert ARRIVAL.alias(site, {"X": (0, 1), "Y": (0, 1)}) == ()
