"""Depthwise layers of 16-bit values on Helium: equal to the reference, edges too, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Attribute, MultiplyShift, Requant, Site
from tilewright.api.testing import byte_array, site_of, vocabulary
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.instructions import tables
from tilewright_cortexm.kernels import dsp_words_depthwise
from tilewright_cortexm.kernels.mve_words_depthwise import KERNELS

Array = npt.NDArray[np.generic]
(DEPTHWISE,) = KERNELS
PLAIN = Requant(scale=(2.0**-8,), zero_point=9, low=-(2**15), high=2**15 - 1)
SHIFTED = replace(PLAIN, rounding=MultiplyShift(multiplier=(2**14 + 77,), shift=(23,), bits=64))


def layer(channels: int, kernel: tuple[int, int], **more: Attribute) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(channels)
    x = byte_array(rng, DType.I16, (2, channels, 6, 7), False)
    inputs: list[Array | None] = [x, byte_array(rng, DType.I8, (channels, 1, *kernel), False)]
    attributes: dict[str, Attribute] = {
        "kernel_shape": kernel, "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": channels, "requant": SHIFTED, "output_type": "i16", **more,
    }  # fmt: skip
    return site_of(vocabulary()["QConv"], inputs, attributes, (1,)), inputs


@pytest.mark.parametrize(
    ("channels", "kernel", "more"),
    [
        (8, (3, 3), {}),
        (21, (3, 3), {"x_zero_point": 40, "pad_value": -7}),
        (3, (3, 2), {"strides": (2, 3), "dilations": (1, 2)}),
        (5, (5, 1), {"requant": PLAIN}),
        (16, (1, 4), {"requant": replace(PLAIN, low=-50, high=7000), "pads": (0, 2, 0, 3)}),
    ],
)
def test_it_is_the_reference(
    channels: int, kernel: tuple[int, int], more: dict[str, Attribute], tmp_path: Path
) -> None:
    site, inputs = layer(channels, kernel, **more)
    assert refusal(DEPTHWISE, site) is None
    layouts = {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}
    (found,) = run_kernel(vocabulary()["QConv"], DEPTHWISE, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QConv"].reference(site, inputs)[0])


def test_what_is_refused() -> None:
    assert "i16 does not hold" in str(refusal(DEPTHWISE, layer(8, (3, 3), pad_value=2**15)[0]))
    assert "needs 64 bits" in str(refusal(DEPTHWISE, layer(8, (3, 3), x_zero_point=-(2**29))[0]))
    assert "one output per channel" in str(refusal(DEPTHWISE, layer(1, (3, 3))[0]))


def test_it_is_expected_to_be_twice_as_fast_as_the_dsp_extension() -> None:
    site = layer(16, (3, 3))[0]
    each = [
        tables()["m55"].executed_by(kernel, layer_of(vocabulary()["QConv"], kernel, site).whole)
        for kernel in (DEPTHWISE, *dsp_words_depthwise.KERNELS)
    ]
    assert each[0] and each[1] and 2 * each[0] < each[1]
