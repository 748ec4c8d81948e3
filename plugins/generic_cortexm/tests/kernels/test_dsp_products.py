"""Convolutions and products with weights on the DSP extension: what is taken, bit for bit, and faster than plain C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels.dsp_products import KERNELS


@pytest.mark.slow
def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "cortex-m.dsp.qconv": {"same", "strided and dilated", "groups", "4 bits", "2 bits"},  # no depthwise convolution
        "cortex-m.dsp.qconv_single": {"same", "strided and dilated", "groups", "4 bits", "2 bits"},
        "cortex-m.dsp.qgemm": {"", "4 bits", "2 bits"},
        "cortex-m.dsp.qconv_nibbles": {"4 bits"},
        "cortex-m.dsp.qgemm_nibbles": {"4 bits"},
    }


@pytest.mark.parametrize(("number", "layer"), [(0, "QConv_same"), (0, "QConv_groups"), (1, "QConv_same"), (2, "QGemm")])
def test_it_is_expected_to_be_faster_than_portable_c(number: int, layer: str, speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[number], layer) > 1
