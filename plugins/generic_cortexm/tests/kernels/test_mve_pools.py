"""Pools on Helium: windows that overhang, whole images, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.api.graph import Requant
from tilewright.api.kernel import Kernel
from tilewright.api.testing import refusal, site_of, vocabulary
from tilewright_cortexm.kernels.mve_pools import KERNELS

ACCEPTED = {
    "cortex-m.mve.max_pool": {"bytes"},
    "cortex-m.mve.qaverage_pool": {"ceil", "global"},
    "cortex-m.mve.qreduce_mean": set(),  # the one there is goes over other axes
}
LAYERS = [(0, "MaxPool_bytes"), (1, "QAveragePool_ceil"), (1, "QAveragePool_global")]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(
    ("number", "layer"), [(0, "MaxPool_bytes"), (1, "QAveragePool_ceil"), (1, "QAveragePool_global")]
)
def test_it_is_expected_to_be_faster_than_portable_c(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None], portable: Callable[[str], float]
) -> None:
    found = cost(KERNELS[number], layer)
    assert found is not None and 0 < found < portable(layer)


def test_a_mean_over_whole_images_or_the_axis_before_the_last_is_taken() -> None:
    operator, (kernel,) = vocabulary()["QReduceMean"], (one for one in KERNELS if one.op == "QReduceMean")
    requant = Requant(scale=(0.02,), zero_point=0, low=-128, high=127)
    taken = []
    for shape, axes in (((1, 8, 5, 6), (2, 3)), ((2, 7, 8), (1,)), ((2, 7, 8), (2,)), ((1, 8, 5, 6), (1,))):
        attributes = {"axes": axes, "keepdims": 1, "x_zero_point": 0, "requant": requant, "output_type": "i8"}
        taken.append(refusal(kernel, site_of(operator, [np.zeros(shape, np.int8)], attributes)) is None)
    assert taken == [True, True, True, False]
