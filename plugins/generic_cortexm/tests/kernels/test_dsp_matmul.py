"""Products of two activations on the DSP extension: bit for bit, faster than plain C, and not for few rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import Attribute, DoubleRounding, DType, Requant
from tilewright.api.testing import byte_array, layers_taken, site_of, vocabulary
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright_cortexm.kernels.dsp_matmul import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {"cortex-m.dsp.qmatmul": {""}}


@pytest.mark.parametrize(("scale", "low"), [(0.0009, -128), (0.0009, 5), (0.11, -128)])
def test_results_that_are_rounded_twice_are_the_reference(scale: float, low: int, tmp_path: Path) -> None:
    requant = Requant(scale=(scale,), zero_point=5, low=low, high=127, rounding=DoubleRounding())
    attributes: dict[str, Attribute] = {"a_zero_point": 3, "b_zero_point": (-2,), "requant": requant}
    rng = np.random.default_rng(7)
    shapes = ((2, 7, 13), (2, 13, 5))  # rows and columns that do not come out even
    inputs: list[Any] = [byte_array(rng, DType.I8, shape, saturated=True) for shape in shapes]
    site = site_of(vocabulary()["QMatMul"], inputs, attributes)
    (found,) = run_kernel(vocabulary()["QMatMul"], KERNELS[0], site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QMatMul"].reference(site, inputs)[0])


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QMatMul") > 1
