"""Which layers the engine takes, and what it leaves to the cores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.api.graph import MultiplyShift
from tilewright.api.testing import byte_array, make_requant, site_of
from tilewright.ir.graphs.graph import Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qgemm import QGEMM
from tilewright_siracusa.neureka.layers import (
    EngineLayer,
    Scaling,
    conv_layer,
    dense_layer,
    depthwise_layer,
    point_layer,
    requant_words,
    scaled_by_engine,
)


def conv(
    side: int = 3, *, zero: int = 0, pad: int = 1, stride: int = 1, group: int = 1, shift: bool = True,
    weights: tuple[int, int] = (-128, 127), w_zero: int = 0,
) -> Site:  # fmt: skip
    rng = np.random.default_rng(1)
    x = byte_array(rng, DType.U8, (1, 8, 9, 9), False)
    w = rng.integers(weights[0], weights[1] + 1, (8, 8 // group, side, side))
    w.flat[:2] = weights
    w = w.astype(np.int8 if weights[0] < 0 else np.uint8)
    requant = make_requant(rng, 8, DType.U8, 255.0 * 128 * 9, "random")
    if shift:
        rounding = MultiplyShift(multiplier=(1, 2, 3, 4, 5, 6, 7, 8), shift=(18,))
        requant = replace(requant, rounding=rounding, scale=tuple(m / 2**18 for m in range(1, 9)), zero_point=0)
    attributes: Any = {
        "kernel_shape": (side, side), "strides": (stride, stride), "dilations": (1, 1), "pads": (pad,) * 4,
        "group": group, "ceil_mode": 0, "requant": requant, "x_zero_point": zero, "pad_value": zero,
        "output_type": "u8", "w_zero_point": (w_zero,),
    }  # fmt: skip
    return site_of(QCONV, [x, w, np.arange(8, dtype=np.int32)], attributes, (1, 2))


REFUSED = {
    "windows are 5x5": conv(5, pad=2),
    "has 2 positions outside": conv(3, pad=2),
    "has dilations, or strides": conv(3, stride=3),
    "has more than one group": conv(3, group=8),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_it_does_not_take_has_a_reason(reason: str) -> None:
    assert reason in str(conv_layer(REFUSED[reason]))


def test_modes() -> None:
    found = [conv_layer(conv(3)), point_layer(conv(1, pad=0)), depthwise_layer(conv(3, group=8))]
    assert [layer.mode for layer in found if isinstance(layer, EngineLayer)] == ["taps", "points", "channels"]
    assert (conv_layer(conv(1, pad=0)), point_layer(conv(3))) == ("is 1x1", "is 3x3")
    assert "is no depthwise" in str(depthwise_layer(conv(3)))
    assert "not 3x3" in str(depthwise_layer(conv(1, pad=0, group=8)))


def test_sums_at_the_border_lack_what_is_outside() -> None:
    plain, bordered = conv_layer(conv(3)), conv_layer(conv(3, zero=5))
    assert isinstance(plain, EngineLayer) and isinstance(bordered, EngineLayer)
    assert plain.biases.shape == (1, 8)
    assert bordered.biases.shape == (16, 8)
    weights = bordered.layer.weights.astype(np.int64).sum(axis=3)
    np.testing.assert_array_equal(bordered.biases[0], bordered.layer.bias)
    np.testing.assert_array_equal(bordered.biases[4] - bordered.layer.bias, 5 * weights[:, 0].sum(axis=1))
    np.testing.assert_array_equal(bordered.biases[2] - bordered.layer.bias, 5 * weights[:, :, 2].sum(axis=1))


def test_the_engine_scales_what_is_proved() -> None:
    site = conv(3)
    found = scaled_by_engine(site, conv_layer(site))
    assert isinstance(found, EngineLayer) and isinstance(found.scaling, Scaling)
    assert found.scaling.bits == 8
    weights = found.layer.weights.reshape(8, -1).astype(np.int64)
    sums = np.random.default_rng(3).integers(0, 256, (50, weights.shape[1])) @ weights.T + found.layer.bias
    rounded = (sums * np.arange(1, 9) + 2**17) >> 18
    multipliers, addends = np.array(found.scaling.multipliers), np.array(found.scaling.addends)
    own = ((sums - found.layer.bias) * multipliers + addends) >> found.scaling.shift
    np.testing.assert_array_equal(np.clip(own, 0, 255), np.clip(rounded, 0, 255))


def test_the_cores_pick_every_second_result_of_strides() -> None:
    site = conv(3, stride=2)
    found = scaled_by_engine(site, conv_layer(site), picked=True)
    assert isinstance(found, EngineLayer) and found.picked and found.scaling is not None
    assert found.job_extent(4) == 7
    assert scaled_by_engine(conv(3), conv_layer(conv(3)), picked=True) == "has no stride"


def test_why_it_leaves_layers_to_the_cores() -> None:
    for site, reason in (
        (conv(3, zero=5), "hold 5"),
        (conv(3, stride=2), "has a stride"),
        (conv(shift=False), "proved"),
    ):
        assert reason in str(scaled_by_engine(site, conv_layer(site)))
    assert scaled_by_engine(conv(3), "no") == "no"


def test_words_of_the_cores() -> None:
    found = conv_layer(conv(3, zero=5))
    assert isinstance(found, EngineLayer)
    words = requant_words(found.layer.requant, found.biases)
    np.testing.assert_array_equal(words[:, 0], np.arange(1, 9))
    np.testing.assert_array_equal(words[:, 3], (found.biases[2] * np.arange(1, 9) + 2**17) % 2**32)
    scaled = requant_words(make_requant(np.random.default_rng(1), 8, DType.U8, 9.0, "random"), found.biases)
    np.testing.assert_array_equal(scaled[:, 16], found.biases[15] % 2**32)


def test_a_fully_connected_layer_is_a_row_of_pixels() -> None:
    rng = np.random.default_rng(2)
    a, b = byte_array(rng, DType.I8, (5, 12), False), byte_array(rng, DType.I8, (12, 7), False)
    requant = make_requant(rng, 7, DType.I8, 9000.0, "random")
    attributes: Any = {"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8"}
    found = dense_layer(site_of(QGEMM, [a, b, None], attributes, (1, 2)))
    assert isinstance(found, EngineLayer)
    assert (found.mode, found.extents) == ("points", (1, 5))


@pytest.mark.parametrize(
    ("weights", "w_zero", "offset", "bits"),
    [((-128, 127), 0, -128, 8), ((-8, 7), 0, -8, 4), ((0, 255), 0, 0, 8), ((0, 255), 128, -128, 8), ((0, 3), 1, -1, 2)],
)
def test_weights_have_the_bits_that_they_need(weights: tuple[int, int], w_zero: int, offset: int, bits: int) -> None:
    """Words of 1x1 convolutions have room for eight whatever they need."""
    taps = conv_layer(conv(3, weights=weights, w_zero=w_zero))
    points = point_layer(conv(1, pad=0, weights=weights, w_zero=w_zero))
    assert isinstance(taps, EngineLayer) and isinstance(points, EngineLayer)
    assert (taps.offset, taps.bits) == (offset, bits)
    assert (points.offset, points.bits) == (offset, 8)


def test_weights_beyond_the_offset_are_for_the_cores() -> None:
    found = conv_layer(conv(3, weights=(0, 255), w_zero=200))
    assert found == "weights minus their zero points are -200..55, beyond 8 bits"
