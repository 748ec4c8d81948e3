"""Which convolutions of bytes float32 holds exactly: the bound of their sums, biases, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.api.testing import make_requant, site_of
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.quantised.qconv import QCONV
from tilewright_snitch.kernels.byte_layers import EXACT, ByteLayer, byte_conv, byte_depthwise

QCONV_TYPE = DType.I8


def layer(
    weights: int, channels: int, *, zero: int = 0, bias: int = 0, group: int = 1, **attributes: Attribute
) -> Site:
    """One tap of equal weights over so many channels, or each by itself."""
    each = channels // group
    w = np.full((group, each, 1, 1), weights, np.int8)
    given: dict[str, Attribute] = {
        "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": group,
        "ceil_mode": 0,
        "requant": make_requant(np.random.default_rng(0), group, QCONV_TYPE, 1e4, "random"), "x_zero_point": zero,
        "pad_value": zero, **attributes,
    }  # fmt: skip
    inputs = [np.zeros((1, channels, 2, 2), np.int8), w, np.full(group, bias, np.int32)]
    return site_of(QCONV, inputs, given, (1, 2))


def test_sums_are_bounded_by_the_weights_and_the_type_of_x() -> None:
    """-128 * -128 * 1024 is 2^24: every part of the sum is below only with fewer channels."""
    assert isinstance(byte_conv(layer(-128, 1022)), ByteLayer)
    assert f"sums reach {EXACT}" in str(byte_conv(layer(-128, 1024)))


def test_a_bias_has_the_zero_point_in_it_and_is_a_float32() -> None:
    found = byte_conv(layer(2, 8, zero=-128, bias=5))
    assert isinstance(found, ByteLayer)
    assert found.parameters[0].tolist() == [5 + 128 * 2 * 8]
    assert isinstance(byte_conv(layer(2, 8, bias=1 << 26)), ByteLayer)
    assert "is no float32" in str(byte_conv(layer(2, 8, bias=(1 << 26) + 1)))


def test_odd_channels_are_filled_up_and_never_cut() -> None:
    found = byte_conv(layer(3, 9))
    assert isinstance(found, ByteLayer)
    assert (found.wide, found.cut, found.weights.shape) == (10, False, (1, 1, 10))
    assert found.weights[0, 0].tolist() == [3.0] * 9 + [0.0]
    alone = byte_depthwise(layer(3, 5, group=5))
    assert isinstance(alone, ByteLayer)
    assert (alone.cut, alone.weights.shape) == (False, (1, 6))


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (layer(1, 8, group=4), "more than one group"),
        (layer(1, 2), "sums have 2 products"),
        (layer(1, 8, pad_value=200), "which i8 does not hold"),
    ],
)
def test_refusals_say_why(site: Site, reason: str) -> None:
    assert reason in str(byte_conv(site))
    assert "no depthwise convolution" in str(byte_depthwise(site)) or reason in str(byte_depthwise(site))


def test_taps_that_are_apart_are_for_the_integer_core() -> None:
    w = np.ones((1, 4, 1, 3), np.int8)
    attributes: dict[str, Attribute] = {
        "kernel_shape": (1, 3), "strides": (1, 1), "dilations": (1, 2), "pads": (0, 0, 0, 0), "group": 1,
        "ceil_mode": 0,
        "requant": make_requant(np.random.default_rng(0), 1, QCONV_TYPE, 1e4, "random"), "x_zero_point": 0,
        "pad_value": 0,
    }  # fmt: skip
    inputs = [np.zeros((1, 4, 2, 9), np.int8), w, np.zeros(1, np.int32)]
    assert "no neighbours" in str(byte_conv(site_of(QCONV, inputs, attributes, (1, 2))))
