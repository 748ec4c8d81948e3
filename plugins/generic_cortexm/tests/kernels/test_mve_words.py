"""Layers of 16-bit values on Helium: what is taken and why not, how weights lie, and the C in this machine's own
instructions.
"""

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
from tilewright_cortexm.kernels import dsp_words
from tilewright_cortexm.kernels.mve_words import KERNELS

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


@pytest.mark.parametrize(("depth", "bias"), [(1, 5), (8, 5), (50, 5), (64, 5), (568, 0), (8, 2**40)])
@pytest.mark.parametrize(
    "requant", [PLAIN, SHIFTED, replace(SHIFTED, low=0, zero_point=9), replace(PLAIN, low=-90, high=900, zero_point=3)]
)
def test_products_are_the_reference_in_sums_of_32_and_of_64_bits(
    depth: int, bias: int, requant: Requant, tmp_path: Path
) -> None:
    site, inputs = product(depth, requant, bias=bias, saturated=depth > 500)
    layer = dsp_words.words_of(site)
    assert isinstance(layer, dsp_words.Words) and layer.wide == (depth > 500 or bias > 5)
    assert refusal(GEMM, site) is None
    (found,) = run_kernel(vocabulary()["QGemm"], GEMM, site, inputs, folder=tmp_path, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QGemm"].reference(site, inputs)[0])


def conv(x: Array, w: Array, pads: tuple[int, ...], **more: Attribute) -> tuple[Site, list[Array | None]]:
    attributes: dict[str, Attribute] = {
        "kernel_shape": w.shape[2:], "strides": (1, 1), "dilations": (1, 1), "pads": pads, "ceil_mode": 0, "group": 1,
        "pad_value": 257 * 3, "requant": SHIFTED, "output_type": "i16", **more,
    }  # fmt: skip
    return site_of(vocabulary()["QConv"], [x, w], attributes, (1,)), [x, w]


@pytest.mark.parametrize(
    ("channels", "kernel", "pads", "strides"),
    [
        (3, (3, 3), (1, 1, 1, 1), (1, 1)),
        (8, (3, 3), (1, 1, 1, 1), (1, 1)),  # inside, what two neighbours read is read where it is
        (5, (1, 4), (0, 2, 0, 1), (1, 2)),
        (4, (1, 1), (0,) * 4, (1, 1)),
        (16, (1, 1), (0,) * 4, (2, 2)),
    ],
)
def test_convolutions_are_the_reference(
    channels: int, kernel: tuple[int, int], pads: tuple[int, ...], strides: tuple[int, int], tmp_path: Path
) -> None:
    rng = np.random.default_rng(channels)
    x, w = (
        byte_array(rng, DType.I16, (2, channels, 6, 7), False),
        byte_array(rng, DType.I8, (6, channels, *kernel), False),
    )
    site, inputs = conv(x, w, pads, x_zero_point=-9, strides=strides)
    assert refusal(CONV, site) is None
    layouts = {"X": (0, 2, 3, 1), "Y": (0, 2, 3, 1)}
    (found,) = run_kernel(vocabulary()["QConv"], CONV, site, inputs, folder=tmp_path, layouts=layouts, flags=UBSAN)
    assert np.array_equal(found, vocabulary()["QConv"].reference(site, inputs)[0])


def test_what_is_refused() -> None:
    word, byte = np.zeros((1, 4, 3, 3), np.int16), np.zeros((2, 4, 1, 1), np.int8)
    around = (1, 1, 1, 1)
    assert "whose two bytes differ" in str(refusal(CONV, conv(word, byte, around, pad_value=31)[0]))
    assert refusal(CONV, conv(word, byte, (0,) * 4, pad_value=31)[0]) is None  # nothing is outside
    assert "has several groups" in str(refusal(CONV, conv(word, byte[:, :2], around, group=2)[0]))
    long = np.zeros((1, 8192, 3, 3), np.int16), np.zeros((2, 8192, 3, 3), np.int8)
    assert "bytes of scratch" in str(refusal(CONV, conv(*long, around)[0]))


def test_eight_weights_of_every_channel_of_a_block_follow_one_another() -> None:
    site, inputs = product(10, SHIFTED)
    packed = layer_of(vocabulary()["QGemm"], GEMM, site).packed
    weights = np.asarray(inputs[1])
    assert packed["W"][8:16].tolist() == weights[:8, 1].tolist()
    assert packed["W"][32:34].tolist() == weights[8:, 0].tolist()
    assert packed["P"][:8].tolist() == [5] * 4 + [(2**14 + 77) << 16] * 4
    assert packed["P"][12:16].tolist() == [-8] * 4


@pytest.mark.parametrize("requant", [PLAIN, SHIFTED])
def test_it_is_expected_to_be_faster_than_the_dsp_extension(requant: Requant) -> None:
    site = product(64, requant)[0]
    each = [
        tables()["m55"].executed_by(kernel, layer_of(vocabulary()["QGemm"], kernel, site).whole)
        for kernel in (GEMM, dsp_words.KERNELS[1])
    ]
    assert each[0] and each[1] and 2 * each[0] < each[1]
