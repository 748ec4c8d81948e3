"""Depthwise convolutions of 3x3 on the DSP extension: what is taken, bit for bit, and faster than any window."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tilewright.api.kernel import Kernel
from tilewright_cortexm.kernels import dsp_taps
from tilewright_cortexm.kernels.dsp_depthwise import KERNELS

ACCEPTED = {"cortex-m.dsp.depthwise3x3": {"depthwise"}}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_layers_that_are_taken_are_equal_to_the_reference(kernel: Kernel, agrees: Callable[[Kernel], set[str]]) -> None:
    assert agrees(kernel) == ACCEPTED[kernel.name]


@pytest.mark.parametrize(("number", "layer"), [(0, "QConv_depthwise")])
def test_it_is_expected_to_be_faster_than_portable_c(
    number: int, layer: str, cost: Callable[[Kernel, str], float | None], portable: Callable[[str], float]
) -> None:
    found = cost(KERNELS[number], layer)
    assert found is not None and 0 < found < portable(layer)


def test_the_special_form_is_faster_than_the_one_for_any_window(cost: Callable[[Kernel, str], float | None]) -> None:
    special, general = (cost(kernels[0], "QConv_depthwise") for kernels in (KERNELS, dsp_taps.KERNELS))
    assert special is not None and general is not None and special < general
