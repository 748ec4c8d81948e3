"""Depthwise convolutions of 3x3 on the DSP extension: what is taken, bit for bit, and faster than any window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Attribute, DType, Requant
from tilewright.api.testing import UBSAN, byte_array, layers_taken, run_kernel, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.kernels import dsp_taps
from tilewright_cortexm.kernels.dsp_depthwise import KERNELS


def test_layers_that_are_taken_are_equal_to_the_reference(tmp_path: Path) -> None:
    assert layers_taken(KERNELS, tmp_path) == {kernel.name: {"depthwise"} for kernel in KERNELS}


def test_it_is_expected_to_be_faster_than_portable_c(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise") > 1


def test_the_special_form_is_faster_than_the_one_for_any_window(speedup: Callable[..., float]) -> None:
    assert speedup(KERNELS[0], "QConv_depthwise", dsp_taps.KERNELS[0]) > 1


@pytest.mark.parametrize("dtype", [DType.I8, DType.U8])
@pytest.mark.parametrize(("channels", "stride"), [(2, 1), (3, 2), (3, 1), (5, 1)])
def test_fewer_channels_than_four_are_read_and_written_alone(
    channels: int, stride: int, dtype: DType, tmp_path: Path
) -> None:
    rng, operator = np.random.default_rng(channels), vocabulary()["QConv"]
    x, w = byte_array(rng, dtype, (2, channels, 7, 6), True), byte_array(rng, DType.I8, (channels, 1, 3, 3), False)
    low, high = dtype.limits
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (stride,) * 2, "dilations": (1, 1), "pads": (1,) * 4, "ceil_mode": 0,
        "group": channels, "requant": Requant(scale=(2.0**-9,), zero_point=low + 9, low=low, high=high),
        "output_type": dtype.value,
    }  # fmt: skip
    site = site_of(operator, [x, w], attributes, (1,))
    layouts = layer_of(operator, KERNELS[0], site).required
    (found,) = run_kernel(operator, KERNELS[0], site, [x, w], folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, operator.reference(site, [x, w])[0])
