"""Layers of 16-bit values on the DSP extension: what is taken and why not, how weights lie, and the C in this machine's
own instructions.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.api.graph import Attribute, MultiplyShift, Requant, Site
from tilewright.api.testing import byte_array, site_of, vocabulary
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.kernels.kernel_run import UBSAN, run_kernel
from tilewright.testing.operator_sites import refusal
from tilewright_cortexm.kernels.dsp_words import CHUNK, KERNELS, Words, channel_runs, parameters, words_of

Array = npt.NDArray[np.generic]
CONV, GEMM = KERNELS
PLAIN = Requant(scale=(2.0**-9,), zero_point=0, low=-(2**15), high=2**15 - 1)
SHIFTED = replace(PLAIN, rounding=MultiplyShift(multiplier=(2**14 + 77,), shift=(24,), bits=64))


def product(depth: int, requant: Requant, *, bias: int = 5, saturated: bool = False) -> tuple[Site, list[Array | None]]:
    rng = np.random.default_rng(depth)
    a, b = byte_array(rng, DType.I16, (3, depth), saturated), byte_array(rng, DType.I8, (depth, 7), saturated)
    attributes: dict[str, Attribute] = {"b_zero_point": (0,), "requant": requant, "output_type": "i16"}
    inputs: list[Array | None] = [a, b, np.full(7, bias, np.int64)]
    return site_of(vocabulary()["QGemm"], inputs, attributes, (1, 2)), inputs


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1, 4, 50, 64])
@pytest.mark.parametrize("requant", [PLAIN, SHIFTED, replace(SHIFTED, low=0), replace(PLAIN, low=-90, high=900)])
def test_products_are_the_reference(depth: int, requant: Requant, tmp_path: Path) -> None:
    site, inputs = product(depth, requant)
    assert refusal(GEMM, site) is None
    (found,) = run_kernel(vocabulary()["QGemm"], GEMM, site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QGemm"].reference(site, inputs)[0])


@pytest.mark.parametrize(("depth", "bias"), [(4 * CHUNK + 60, 0), (12 * CHUNK + 4, 0), (8, 2**40)])
@pytest.mark.parametrize("requant", [replace(PLAIN, scale=(2.0**-18,)), SHIFTED])
def test_longer_sums_are_made_of_those_that_32_bits_hold(
    depth: int, bias: int, requant: Requant, tmp_path: Path
) -> None:
    site, inputs = product(depth, requant, bias=bias, saturated=True)
    layer = words_of(site)
    assert isinstance(layer, Words) and layer.wide
    (found,) = run_kernel(vocabulary()["QGemm"], GEMM, site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QGemm"].reference(site, inputs)[0])


def conv(x: Array, w: Array, pads: tuple[int, ...], **more: Attribute) -> tuple[Site, list[Array | None]]:
    attributes: dict[str, Attribute] = {
        "kernel_shape": w.shape[2:], "strides": (1, 1), "dilations": (1, 1), "pads": pads, "ceil_mode": 0, "group": 1,
        "pad_value": 31, "requant": SHIFTED, "output_type": "i16", **more,
    }  # fmt: skip
    return site_of(vocabulary()["QConv"], [x, w], attributes, (1,)), [x, w]


@pytest.mark.parametrize(
    ("channels", "kernel", "pads"), [(3, (3, 3), (1, 1, 1, 1)), (5, (1, 4), (0, 2, 0, 1)), (4, (1, 1), (0,) * 4)]
)
def test_convolutions_are_the_reference(
    channels: int, kernel: tuple[int, int], pads: tuple[int, ...], tmp_path: Path
) -> None:
    rng = np.random.default_rng(channels)
    x, w = (
        byte_array(rng, DType.I16, (2, channels, 6, 7), False),
        byte_array(rng, DType.I8, (6, channels, *kernel), False),
    )
    site, inputs = conv(x, w, pads, x_zero_point=-9)
    assert refusal(CONV, site) is None
    layouts = {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}
    (found,) = run_kernel(vocabulary()["QConv"], CONV, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QConv"].reference(site, inputs)[0])


def test_what_is_refused() -> None:
    word, byte = np.zeros((1, 4, 3, 3), np.int16), np.zeros((2, 4, 1, 1), np.int8)
    none = (0, 0, 0, 0)
    for requant, reason in (
        (replace(SHIFTED, rounding=MultiplyShift(multiplier=(2**15,), shift=(24,), bits=64)), "not those of tflm"),
        (replace(SHIFTED, rounding=MultiplyShift(multiplier=(9,), shift=(16,), bits=64)), "a quarter or more"),
        (replace(SHIFTED, rounding=MultiplyShift(multiplier=(9,), shift=(24,))), "its rounding is another"),
        (replace(SHIFTED, zero_point=2**22), "above the shift"),
    ):
        assert reason in str(refusal(CONV, conv(word, byte, none, requant=requant)[0]))
    unsigned = conv(word.astype(np.uint16), byte, none)[0]
    assert "this kernel takes i16" in str(refusal(CONV, unsigned))
    assert "has several groups" in str(refusal(CONV, conv(word, byte[:, :2], none, group=2)[0]))
    assert "i16 does not hold" in str(refusal(CONV, conv(word, byte, none, pad_value=2**15)[0]))
    high = np.full((2, 4, 1, 1), 127, np.int8)
    assert "do not fit 8 bits" in str(refusal(CONV, conv(word, high, none, w_zero_point=(-128,))[0]))


def test_channels_come_in_fours_and_a_rest() -> None:
    assert channel_runs(3) == [(0, 1, 3)]
    assert channel_runs(8) == [(0, 2, 4)]
    assert channel_runs(9) == [(0, 2, 4), (8, 1, 1)]


def test_a_shifted_channel_has_its_multiplier_above_and_half_a_step() -> None:
    layer = words_of(product(8, replace(SHIFTED, zero_point=3))[0])
    assert isinstance(layer, Words)
    assert parameters(layer)[0].tolist() == [5, (2**14 + 77) << 16, (3 << 8) + 128, 8]
