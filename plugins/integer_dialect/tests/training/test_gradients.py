"""Gradients against differences of the function that they are of, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net
from onnx import TensorProto

Compute = Callable[..., list[Any]]
FLOATS = dict.fromkeys(("x", "g", "l", "w"), "")


def differences(function: Callable[[Any], Any], x: Any, gradient: Any) -> Any:
    """What `gradient` of the function's result makes of x, by central differences."""
    found, step = np.zeros(x.shape), 1e-5
    for index in np.ndindex(*x.shape):
        ends = []
        for sign in (1, -1):
            moved = x.astype(np.float64).copy()
            moved[index] += sign * step
            ends.append((function(moved) * gradient).sum())
        found[index] = (ends[0] - ends[1]) / (2 * step)
    return found


def _gelu(x: Any) -> Any:
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _normal(x: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def _pair(net: Net, *shape: int) -> tuple[Any, Any]:
    return tuple(net.rng.standard_normal(shape).astype(np.float32) for _ in "gx")  # type: ignore[return-value]


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_gelu(domain: str, compute: Compute) -> None:
    net = Net(1)
    g, x = _pair(net, 3, 5)
    node = net.node("GeluGrad", net.input("g", g.shape), net.input("x", x.shape), domain=domain)
    model = net.model(node, domains=["com.microsoft"])
    np.testing.assert_allclose(compute(model, {"g": g, "x": x}, FLOATS)[0], differences(_gelu, x, g), atol=2e-5)


def test_relu(compute: Compute) -> None:
    net = Net(2)
    g, x = _pair(net, 3, 5)
    model = net.model(
        net.node("ReluGrad", net.input("g", g.shape), net.input("x", x.shape), domain="com.microsoft"),
        domains=["com.microsoft"],
    )
    np.testing.assert_array_equal(compute(model, {"g": g, "x": x}, FLOATS)[0], np.where(x > 0, g, 0))


def test_softmax(compute: Compute) -> None:
    net = Net(3)
    g, x = _pair(net, 4, 6)
    y = _softmax(x).astype(np.float32)
    node = net.node("SoftmaxGrad", net.input("g", g.shape), net.input("x", y.shape), domain="com.microsoft", axis=-1)
    model = net.model(node, domains=["com.microsoft"])
    np.testing.assert_allclose(compute(model, {"g": g, "x": y}, FLOATS)[0], differences(_softmax, x, g), atol=2e-5)


def test_layer_norm(compute: Compute) -> None:
    net = Net(4)
    g, x = _pair(net, 2, 3, 7)
    scale = net.rng.standard_normal(7).astype(np.float32)
    given = net.input("g", g.shape), net.input("x", x.shape, TensorProto.FLOAT)
    words = {"axis": -1, "epsilon": 1e-5, "stash_type": 1, "description": "[Backward pass]"}
    first = net.node("LayerNormalizationGrad", *given, net.constant(scale), domain="com.microsoft", outputs=3, **words)
    model = net.model(first, f"{first}_1", f"{first}_2", domains=["com.microsoft"])
    found = compute(model, {"g": g, "x": x}, FLOATS)
    np.testing.assert_allclose(found[0], differences(lambda v: _normal(v) * scale, x, g), atol=1e-4)
    np.testing.assert_allclose(found[1], (g * _normal(x)).sum(axis=(0, 1)), atol=1e-4)
    np.testing.assert_allclose(found[2], g.sum(axis=(0, 1)), atol=1e-4)


@pytest.mark.parametrize("with_gradient", [False, True])
def test_cross_entropy(with_gradient: bool, compute: Compute) -> None:
    net = Net(5)
    x, labels = net.rng.standard_normal((4, 6)), np.array([2, 0, 5, 1])
    log_prob = np.log(_softmax(x)).astype(np.float32)
    names = net.input("x", (4, 6)), net.input("l", (4,), TensorProto.INT64)
    given = (net.constant(np.float32(0.25)), *names) if with_gradient else names
    model = net.model(
        net.node("SoftmaxCrossEntropyLossGrad", *given, domain="com.microsoft", reduction="mean"),
        domains=["com.microsoft"],
    )

    def loss(logits: Any) -> Any:
        return -np.log(_softmax(logits))[np.arange(4), labels].mean()

    found = compute(model, {"x": log_prob, "l": labels}, FLOATS)[0]
    np.testing.assert_allclose(found, 0.25 * differences(loss, x, np.ones(())), atol=1e-5)


def test_a_step_of_sgd(compute: Compute) -> None:
    net = Net(6)
    g, w = _pair(net, 3, 4)
    total = net.node("InPlaceAccumulator", net.input("g", g.shape), net.input("x", g.shape), domain="com.microsoft")
    model = net.model(net.node("SGD", net.constant(w), total, lr=0.125), domains=["com.microsoft"])
    np.testing.assert_allclose(compute(model, {"g": g, "x": g}, FLOATS)[0], w - 0.25 * g, rtol=1e-6)
