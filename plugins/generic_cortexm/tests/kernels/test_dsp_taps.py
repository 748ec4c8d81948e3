"""Depthwise convolutions of any window on the DSP extension: what is taken, bit for bit, and faster than plain C."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels.dsp_taps import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "cortex-m.dsp.depthwise": {"depthwise"},
        "cortex-m.dsp.depthwise_several": set(),  # the core has no such layer; this package has
    }


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise") > 1
