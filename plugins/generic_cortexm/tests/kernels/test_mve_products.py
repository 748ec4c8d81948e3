"""Convolutions and products with weights on Helium: what is taken, bit for bit, and faster than the DSP extension."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.api.kernel import Kernel
from tilewright_cortexm.kernels import dsp_products
from tilewright_cortexm.kernels.mve_products import KERNELS

ACCEPTED = {
    "cortex-m.mve.qconv": {"same", "strided and dilated", "groups"},  # no depthwise convolution
    "cortex-m.mve.qgemm": {""},
}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(("number", "layer"), [(0, "QConv_same"), (0, "QConv_groups"), (1, "QGemm")])
def test_it_is_expected_to_be_faster_than_the_dsp_extension(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None]
) -> None:
    found, other = (cost(kernels[number], layer) for kernels in (KERNELS, dsp_products.KERNELS))
    assert found is not None and other is not None and 0 < found < other
