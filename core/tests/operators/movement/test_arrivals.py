"""Arrival and Departure: copies, element by element, of whatever passes."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.operators.movement.arrivals import KERNELS, OPERATORS
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import site_of

PORTS = list(zip(OPERATORS, KERNELS, strict=True))


@pytest.mark.parametrize(("operator", "kernel"), PORTS, ids=[one.name for one in OPERATORS])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("layout", list(permutations(range(3)))[:3])
def test_it_is_what_passes(
    operator: Operator, kernel: Kernel, dtype: str, layout: tuple[int, ...], tmp_path: Path
) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, 4)).astype(dtype)
    site = site_of(operator, [x], {})
    layouts = {"X": layout, "Y": layout}
    (y,) = run_kernel(operator, kernel, site, [x], folder=tmp_path, layouts=layouts)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("operator", OPERATORS, ids=[one.name for one in OPERATORS])
def test_it_is_never_another_name_for_bytes_that_are_there(operator: Operator) -> None:
    site = site_of(operator, [np.zeros((1, 4), np.float32)], {})
    assert operator.alias(site, {"X": (0, 1), "Y": (0, 1)}) == ()
