"""Sums and products element by element on Helium: bit for bit, and when a sum is taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import DType
from tilewright.api.kernel import Kernel
from tilewright.api.testing import byte_array, refusal, run_kernel, site_of, vocabulary
from tilewright_cortexm.kernels.mve_elementwise import KERNELS

ACCEPTED = {"cortex-m.mve.qadd": set(), "cortex-m.mve.qmul": {""}}  # of the sum there see below


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(("number", "layer"), [(1, "QMul")])
def test_it_is_expected_to_be_faster_than_portable_c(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None], portable: Callable[[str], float]
) -> None:
    found = cost(KERNELS[number], layer)
    assert found is not None and 0 < found < portable(layer)


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
def test_a_sum_of_32_bits_is_computed_beside_the_bytes_of_an_operand_or_in_them(dtype: DType, tmp_path: Path) -> None:
    rng, (low, high) = np.random.default_rng(4), dtype.limits
    inputs = [byte_array(rng, dtype, (3, 5, 19), saturated=False), byte_array(rng, dtype, (5, 19), saturated=True)]
    attributes = {
        "a_scale": 0.5, "b_scale": 0.25, "a_zero_point": 3, "b_zero_point": 1, "zero_point": 2, "low": low,
        "high": high - 20, "output_type": dtype.value,
    }  # fmt: skip
    operator, (kernel,) = vocabulary()["QAdd"], (one for one in KERNELS if one.op == "QAdd")
    site = site_of(operator, inputs, attributes)
    assert refusal(kernel, site) is None
    for in_place in (False, True):
        (found,) = run_kernel(operator, kernel, site, inputs, folder=tmp_path, in_place=in_place)
        assert np.array_equal(found, operator.reference(site, inputs)[0])
