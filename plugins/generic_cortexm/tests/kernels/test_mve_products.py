"""Convolutions and products with weights on Helium: what is taken, bit for bit, and faster than the DSP extension."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels import dsp_products
from tilewright_cortexm.kernels.mve_products import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "cortex-m.mve.qconv": {"same", "strided and dilated", "groups", "4 bits", "2 bits"},  # no depthwise convolution
        "cortex-m.mve.qconv_single": {"same", "strided and dilated", "groups", "4 bits", "2 bits"},
        "cortex-m.mve.qgemm": {"", "4 bits", "2 bits"},
        "cortex-m.mve.qconv_nibbles": {"4 bits"},
        "cortex-m.mve.qgemm_nibbles": {"4 bits"},
    }


@pytest.mark.parametrize(("number", "layer"), [(0, "QConv_same"), (1, "QConv_same"), (2, "QGemm")])
def test_it_is_expected_to_be_faster_than_the_dsp_extension(
    number: int, layer: str, speedup: Callable[..., float]
) -> None:
    assert speedup(KERNELS[number], layer, dsp_products.KERNELS[number]) > 1
