"""One step of training as a network: which files are meant, and that weights learn as state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dialect_models import Net
from onnx import TensorProto, helper

from tilewright.api.testing import vocabulary
from tilewright.frontend.load import load
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright_integer_dialect import FLOATS
from tilewright_integer_dialect.training.translation import speaks

VOCABULARY = vocabulary()


def one_step(net: Net, w: Any, b: Any, *, rate: float = 0.5) -> Any:
    """A dense layer, the gradient of its loss, and a step of SGD, as exporters of this world write it."""
    x, labels = net.input("x", (3, 4)), net.input("labels", (3,), TensorProto.INT64)
    weight, bias = net.constant(w), net.constant(b)
    logits = net.node("Gemm", x, weight, bias, transB=1, shape=(3, 5))
    probable = net.node("SoftmaxCrossEntropyLoss", logits, labels, reduction="mean", shape=(3, 5))
    gradient = net.node(
        "SoftmaxCrossEntropyLossGrad", probable, labels, domain="com.microsoft", reduction="mean", shape=(3, 5)
    )
    of_weight = net.node("Gemm", gradient, x, transA=1, beta=0.0, description="[Backward pass]", shape=(5, 4))
    of_bias = net.node("ReduceSum", gradient, axes=[0], keepdims=0)
    outputs = net.node("SGD", weight, of_weight, lr=rate), net.node("SGD", bias, of_bias, lr=rate)
    model = net.model(*outputs, opset=12)
    del model.opset_import[:]
    versions = (("", 19), ("", 12), ("com.microsoft", 1), ("com.microsoft", 1))
    model.opset_import.extend(helper.make_opsetid(domain, version) for domain, version in versions)
    return model, dict(zip(outputs, (weight, bias), strict=True))


def stepped(w: Any, b: Any, x: Any, labels: Any, *, rate: float = 0.5) -> tuple[Any, Any]:
    """The same in numpy."""
    powers = np.exp(x @ w.T + b)
    gradient = powers / powers.sum(axis=1, keepdims=True)
    gradient[np.arange(3), labels] -= 1
    gradient /= 9  # the mean, and dY in its place
    return w - rate * gradient.T @ x, b - rate * gradient.sum(axis=0)


def _data(net: Net) -> tuple[Any, Any, Any, Any]:
    w, b, x = (net.rng.standard_normal(shape).astype(np.float32) for shape in ((5, 4), (5,), (3, 4)))
    return w, b, x, np.array([4, 0, 2])


def test_a_step_of_training(compute: Callable[..., list[Any]]) -> None:
    net = Net(1)
    w, b, x, labels = _data(net)
    model, _ = one_step(net, w, b)
    found = compute(model, {"x": x, "labels": labels}, {"x": "", "labels": ""})
    for each, expected in zip(found, stepped(w, b, x, labels), strict=True):
        np.testing.assert_allclose(each, expected, atol=1e-5)


def test_weights_are_state_where_that_is_asked_for() -> None:
    net = Net(2)
    w, b = _data(net)[:2]
    model, weights = one_step(net, w, b)
    options = ImportOptions(states=tuple(f"{output}:{weight}" for output, weight in weights.items()))
    found = load(model.SerializeToString(), options, VOCABULARY, dialects=[FLOATS])
    assert found.graph.inputs == ("x", "labels", *weights.values())
    assert {state.output: state.input for state in found.states} == weights
    np.testing.assert_array_equal(found.states[0].initial, w)


def test_files_that_are_onnx_are_nobody_elses() -> None:
    net = Net()
    plain = net.model(net.node("Gemm", net.input("x", (3, 4)), net.constant(np.ones((4, 2)))))
    assert not speaks(plain, {})
    batched = Net()
    model = batched.model(batched.node("Gemm", batched.input("x", (2, 3, 4)), batched.constant(np.ones((2, 4, 2)))))
    assert speaks(model, {})
    whole = Net()
    own = whole.shift(whole.node("Gemm", whole.input("x", (2, 3, 4)), whole.constant(np.ones((2, 4, 2)))), 1, 0)
    assert not speaks(whole.model(own), {})
