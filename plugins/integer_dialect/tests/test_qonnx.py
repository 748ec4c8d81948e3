"""QONNX: what Quant rounds to, for values, weights and more than 8 bits; and that layers between become integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net

from tilewright_integer_dialect.qonnx import speaks

DOMAIN = "qonnx.custom_op.general"


def _quant(net: Net, x: str, scale: Any, zero: Any, bits: int, **words: Any) -> str:
    numbers = (net.constant(each) for each in (scale, zero, bits))
    return net.node("Quant", x, *numbers, domain=DOMAIN, **words)


def _rounded(x: Any, scale: Any, zero: Any, bits: int, signed: int, narrow: int) -> Any:
    low = -(2 ** (bits - 1)) + narrow if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    return (np.clip(np.rint(x / np.float32(scale) + zero), low, high) - zero) * np.float32(scale)


@pytest.mark.parametrize("bits", [2, 4, 8, 12, 16, 20])
@pytest.mark.parametrize(("signed", "narrow", "zero"), [(1, 0, 0), (1, 1, 0), (0, 0, 4), (0, 1, 0)])
def test_values_are_rounded_to_the_grid(bits: int, signed: int, narrow: int, zero: int, compute: Any) -> None:
    net = Net(bits)
    x = (net.rng.standard_normal((4, 50)) * 2**bits / 8).astype(np.float32)
    model = net.model(
        _quant(net, net.input("x", x.shape), 0.125, zero, bits, signed=signed, narrow=narrow), domains=[DOMAIN]
    )
    np.testing.assert_array_equal(
        compute(model, {"x": x}, {"x": ""})[0], _rounded(x, 0.125, zero, bits, signed, narrow).astype(np.float32)
    )


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_layer_between_grids_is_integer(per_channel: bool, read_in: Any, rewritten: Any) -> None:
    net = Net(1)
    w = (net.rng.standard_normal((4, 3, 3, 3)) / 4).astype(np.float32)
    scale = net.rng.uniform(0.01, 0.02, (4, 1, 1, 1)) if per_channel else 0.015625
    x = _quant(net, net.input("x", (1, 3, 6, 6)), 0.0625, 0, 8, signed=1)
    weights = _quant(net, net.constant(w), scale, 0, 4, signed=1, narrow=1)
    y = _quant(net, net.node("Conv", x, weights, kernel_shape=[3, 3]), 0.0625, 0, 8, signed=1)
    model = net.model(y, domains=[DOMAIN])
    assert "QConv" in [node.op for node in rewritten(model, {"x": ""}).nodes]
    stored = [array for array in read_in(model, {"x": ""}).graph.constants.values() if array.shape == w.shape]
    np.testing.assert_array_equal(stored[0], np.clip(np.rint(w / np.float32(scale)), -7, 7).astype(np.int8))


@pytest.mark.parametrize(
    ("scale", "zero", "bits", "words", "reason"),
    [
        (0.5, 0, 8, {"rounding_mode": "FLOOR"}, "it rounds by FLOOR"),
        (0.5, 0.5, 8, {}, "a zero point with fractions"),
        (-0.5, 0, 8, {}, "not above 0"),
        (0.5, 0, 1, {}, "1.0] bits"),
        (0.5, 0, 40, {}, "40 bits; 32 are the most"),
        ([0.5, 0.25], 0, 8, {}, "one scale and one zero point"),
    ],
)
def test_refusals_say_why(
    scale: Any, zero: Any, bits: int, words: Any, reason: str, read_in: Callable[..., Any]
) -> None:
    net = Net()
    model = net.model(_quant(net, net.input("x", (3, 2)), scale, zero, bits, **words), domains=[DOMAIN])
    with pytest.raises(Exception, match="1 node of QONNX cannot be taken") as caught:
        read_in(model, {"x": ""})
    assert reason in str(caught.value)


@pytest.mark.parametrize("bits", [8, 16])
def test_layers_of_16_bits_and_biases_of_32_are_integers(bits: int, compute: Any, rewritten: Any) -> None:
    """Brevitas gives a bias the scale of the sums, and 16 or 32 bits."""
    net = Net(4)
    grid = {8: 2.0**-4, 16: 2.0**-12}[bits]
    w = np.round(net.rng.standard_normal((4, 3, 3, 3)) * 16) / 64
    x = _quant(net, net.input("x", (1, 3, 6, 6)), grid, 0, bits, signed=1)
    weights = _quant(net, net.constant(w), 2.0**-6, 0, 8, signed=1, narrow=1)
    bias = _quant(net, net.constant(net.rng.standard_normal(4)), grid * 2.0**-6, 0, 32, signed=1)
    y = _quant(net, net.node("Conv", x, weights, bias, kernel_shape=[3, 3]), grid * 4, 0, bits, signed=1)
    model = net.model(y, domains=[DOMAIN])
    (layer,) = [node for node in rewritten(model, {"x": ""}).nodes if node.op == "QConv"]
    assert layer.attributes["output_type"] == f"i{bits}"
    found = compute(model, {"x": net.rng.standard_normal((1, 3, 6, 6)).astype(np.float32)}, {"x": ""})[0]
    assert found.any() and np.array_equal(found, np.rint(found / (grid * 4)) * (grid * 4))


def test_files_of_old_operator_sets_keep_them(compute: Any) -> None:
    """Softmax means another thing from 13 on, and Clip has inputs from 11 on."""
    net = Net(5)
    x = net.rng.standard_normal((2, 3, 4)).astype(np.float32)
    values = _quant(net, net.input("x", x.shape), 0.5, 0, 4, signed=1, rounding_mode="half_even")
    model = net.model(net.node("Softmax", values, axis=1), opset=9, domains=[DOMAIN])
    flat = np.exp(_rounded(x, 0.5, 0, 4, 1, 0).reshape(2, -1))
    wanted = (flat / flat.sum(axis=1, keepdims=True)).reshape(x.shape)
    np.testing.assert_allclose(compute(model, {"x": x}, {"x": ""})[0], wanted, rtol=1e-5)


def test_a_quant_of_somebody_else_is_not_meant() -> None:
    net = Net()
    assert not speaks(net.model(net.node("Quant", net.input("x", (3,)), domain="com.acme"), domains=["com.acme"]), {})
