"""Depthwise convolutions of five and seven columns on the DSP extension: what is taken, bit for bit, and faster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tilewright.api.graph import Attribute, DType, Requant, Site
from tilewright.api.testing import UBSAN, byte_array, result_errors, run_kernel, run_tiled, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels import dsp_taps
from tilewright_cortexm.kernels.dsp_wide_depthwise import KERNELS

(WIDE,) = KERNELS
OPERATOR = vocabulary()["QConv"]


def layer(kernel: tuple[int, int], strides: tuple[int, int], channels: int = 6) -> tuple[Site, list[object]]:
    rng = np.random.default_rng(0)
    x, w = (
        byte_array(rng, DType.I8, shape, saturated=False) for shape in ((1, channels, 9, 13), (channels, 1, *kernel))
    )
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": strides, "dilations": (1, 1), "pads": (1, 3, 2, 2), "ceil_mode": 0,
        "group": channels, "requant": Requant(scale=(0.0017,), zero_point=4, low=-128, high=127), "output_type": "i8",
    }  # fmt: skip
    return site_of(OPERATOR, [x, w], attributes, (1,)), [x, w]


@pytest.mark.parametrize("strides", [(1, 1), (2, 2), (3, 1)])
@pytest.mark.parametrize("kernel", [(5, 5), (1, 7)])
def test_it_is_equal_to_the_reference_whole_and_by_rows_and_columns(
    kernel: tuple[int, int], strides: tuple[int, int], tmp_path: Path
) -> None:
    site, inputs = layer(kernel, strides)
    layouts = layer_of(OPERATOR, WIDE, site).required
    for number, cuts in enumerate((None, {"h": 2}, {"h": 2, "w": 3})):
        folder = tmp_path / str(number)
        folder.mkdir()
        more = {"folder": folder, "layouts": layouts, "flags": UBSAN}
        if cuts is None:
            found = run_kernel(OPERATOR, WIDE, site, inputs, **more)
        else:
            found = run_tiled(OPERATOR, WIDE, site, inputs, cuts=cuts, **more)
        assert result_errors(OPERATOR, site, inputs, found) == []


@pytest.mark.parametrize(
    ("kernel", "strides", "channels", "reason"),
    [
        ((3, 3), (1, 1), 6, "this one has 5 or 7 columns"),
        ((5, 5), (1, 3), 6, "the stride between columns is 3"),
        ((5, 5), (1, 1), 3, "has 3 channels; four are computed together"),
    ],
)
def test_what_is_left_to_others(kernel: tuple[int, int], strides: tuple[int, int], channels: int, reason: str) -> None:
    found = WIDE.match(layer(kernel, strides, channels)[0])
    assert isinstance(found, str)
    assert reason in found


@pytest.mark.parametrize("strides", [(1, 1), (2, 2)])
def test_it_is_faster_than_the_form_for_any_window(strides: tuple[int, int]) -> None:
    site, _ = layer((5, 5), strides, 24)
    wide, other = (
        tables()["m4"].executed_by(kernel, layer_of(OPERATOR, kernel, site).whole)
        for kernel in (WIDE, dsp_taps.KERNELS[0])
    )
    assert wide and other
    assert other / wide > 1.1
