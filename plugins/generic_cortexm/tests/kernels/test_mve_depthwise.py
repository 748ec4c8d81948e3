"""Depthwise convolutions on Helium: what is taken, bit for bit, and faster than the DSP extension."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels import dsp_depthwise
from tilewright_cortexm.kernels.mve_depthwise import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {
        "cortex-m.mve.depthwise": {"depthwise"},
        "cortex-m.mve.depthwise_several": set(),  # the core has no such layer; this package has
    }


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise") > 1


def test_helium_is_faster_than_the_dsp_extension(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise", dsp_depthwise.KERNELS[0]) > 1
