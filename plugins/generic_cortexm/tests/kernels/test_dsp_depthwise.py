"""Depthwise convolutions of 3x3 on the DSP extension: what is taken, bit for bit, and faster than any window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tilewright.api.testing import layers_taken
from tilewright_cortexm.kernels import dsp_taps
from tilewright_cortexm.kernels.dsp_depthwise import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"depthwise"} for kernel in KERNELS}


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise") > 1


def test_the_special_form_is_faster_than_the_one_for_any_window(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise", dsp_taps.KERNELS[0]) > 1
