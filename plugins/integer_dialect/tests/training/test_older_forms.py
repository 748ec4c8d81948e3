"""Forms that ONNX does not have, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net

Compute = Callable[..., list[Any]]
FLOATS = {"x": "", "y": ""}


@pytest.mark.parametrize(
    ("alpha", "beta", "biased"), [(1.0, 1.0, True), (0.5, 2.0, True), (1.0, 0.0, True), (2.0, 1.0, False)]
)
def test_a_gemm_of_batches(alpha: float, beta: float, biased: bool, compute: Compute) -> None:
    net = Net(1)
    a, b, c = (net.rng.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 4), (2, 5, 4), (5,)))
    given = [net.input("x", a.shape), net.input("y", b.shape), *([net.constant(c)] if biased else [])]
    model = net.model(net.node("Gemm", *given, alpha=alpha, beta=beta, transB=1, description="[Backward pass]"))
    expected = alpha * (a @ b.transpose(0, 2, 1)) + (beta * c if biased else 0)
    np.testing.assert_allclose(compute(model, {"x": a, "y": b}, FLOATS)[0], expected, atol=1e-5)


def test_rms_norm(compute: Compute) -> None:
    net = Net(2)
    x, w = (net.rng.standard_normal(shape).astype(np.float32) for shape in ((2, 3, 8), (8,)))
    model = net.model(net.node("RMSNorm", net.input("x", x.shape), net.constant(w), eps=1e-3))
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(axis=-1, keepdims=True) + 1e-3) * w
    np.testing.assert_allclose(compute(model, {"x": x}, FLOATS)[0], expected, atol=1e-5)


def test_numbers_left_over_mean_nothing(compute: Compute) -> None:
    net = Net(3)
    x = net.rng.standard_normal((3, 4)).astype(np.float32)
    half = net.node("Div", net.input("x", x.shape), net.constant(2), Delta=16384, eps=1, eta=200000)
    model = net.model(net.node("HardSwish", half, one_over_six=42, six=6, three=3), opset=14)
    expected = x / 2 * np.clip(x / 2 / 6 + 0.5, 0, 1)
    np.testing.assert_allclose(compute(model, {"x": x}, FLOATS)[0], expected, atol=1e-6)


def test_axes_may_be_attributes(compute: Compute) -> None:
    net = Net(4)
    x = net.rng.standard_normal((1, 3, 4)).astype(np.float32)
    summed = net.node("ReduceSum", net.node("Squeeze", net.input("x", x.shape), axes=[0]), axes=[1], keepdims=0)
    model = net.model(net.node("SGD", net.node("Unsqueeze", summed, axes=[0]), net.constant(np.zeros((1, 3)))))
    np.testing.assert_allclose(compute(model, {"x": x}, FLOATS)[0], x[0].sum(axis=1)[None], atol=1e-5)
