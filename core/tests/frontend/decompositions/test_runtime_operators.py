"""Operators of onnxruntime mean what its documentation says; LayerNormalization below opset 17 is that of 17."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run

DRAWN = np.random.default_rng(5)
X, SKIP = (DRAWN.normal(size=(2, 3, 8)).astype(np.float32) for _ in range(2))
GAMMA, BETA, BIAS = (DRAWN.normal(size=8).astype(np.float32) for _ in range(3))
CONSTANTS = {"gamma": GAMMA, "beta": BETA, "bias": BIAS}


def _network(
    model: Any, op_type: str, inputs: list[str], outputs: int = 1, domain: str = "com.microsoft", **attributes: Any
) -> Any:
    names = ["y", *(f"more{number}" for number in range(1, outputs))]
    node = helper.make_node(op_type, inputs, names, domain=domain, **attributes)
    made = model(
        [node],
        inputs=[
            helper.make_tensor_value_info(name, TensorProto.FLOAT, X.shape) for name in inputs if name in ("x", "skip")
        ],
        outputs=[helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names],
        constants=[numpy_helper.from_array(CONSTANTS[name], name) for name in inputs if name in CONSTANTS],
    )
    made.opset_import[0].version = 11
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return made


def _run(made: Any, loads: Any, vocabulary: Any) -> dict[str, Any]:
    graph = loads(made).graph
    return dict(run(graph, {name: {"x": X, "skip": SKIP}[name] for name in graph.inputs}, vocabulary))


def _gelu(x: Any) -> Any:
    return x / 2 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def _fast(x: Any) -> Any:
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _layer(x: Any, epsilon: float) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)


def _root(x: Any, epsilon: float) -> Any:
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon)


@pytest.mark.parametrize(
    ("op_type", "inputs", "attributes", "expected"),
    [
        ("Gelu", ["x"], {}, _gelu(X)),
        ("BiasGelu", ["x", "bias"], {}, _gelu(X + BIAS)),
        ("FastGelu", ["x"], {}, _fast(X)),
        ("FastGelu", ["x", "bias"], {}, _fast(X + BIAS)),
        ("QuickGelu", ["x"], {"alpha": 1.5}, X / (1 + np.exp(-1.5 * X))),
        ("SkipLayerNormalization", ["x", "skip", "gamma"], {"epsilon": 0.1}, _layer(X + SKIP, 0.1) * GAMMA),
        (
            "SkipLayerNormalization",
            ["x", "skip", "gamma", "beta", "bias"],
            {"epsilon": 0.1},
            _layer(X + SKIP + BIAS, 0.1) * GAMMA + BETA,
        ),
        (
            "SkipSimplifiedLayerNormalization",
            ["x", "skip", "gamma", "bias"],
            {"epsilon": 0.1},
            _root(X + SKIP + BIAS, 0.1) * GAMMA,
        ),
    ],
)
def test_what_it_computes(
    op_type: str, inputs: list[str], attributes: Any, expected: Any, loads: Any, model: Any, vocabulary: Any
) -> None:
    got = _run(_network(model, op_type, inputs, **attributes), loads, vocabulary)["y"]
    assert np.allclose(got, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bias", [[], ["bias"]])
def test_the_sum_is_an_output_too(bias: list[str], loads: Any, model: Any, vocabulary: Any) -> None:
    made = _network(model, "SkipLayerNormalization", ["x", "skip", "gamma", "beta", *bias], outputs=4)
    got = _run(made, loads, vocabulary)
    total = X + SKIP + (BIAS if bias else 0)
    assert np.allclose(got["more3"], total, rtol=1e-6)
    assert np.allclose(got["more1"][..., 0], total.mean(axis=-1), rtol=1e-3, atol=1e-5)
    assert np.allclose(got["y"], _layer(total, 1e-12) * GAMMA + BETA, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("op_type", "inputs", "expected"),
    [
        ("LayerNormalization", ["x", "gamma", "beta"], _layer(X, 0.1) * GAMMA + BETA),
        ("SimplifiedLayerNormalization", ["x", "gamma"], _root(X, 0.1) * GAMMA),
    ],
)
def test_normalisations_before_onnx_had_them(
    op_type: str, inputs: list[str], expected: Any, loads: Any, model: Any, vocabulary: Any
) -> None:
    made = _network(model, op_type, inputs, domain="", epsilon=0.1, axis=-1)
    assert np.allclose(_run(made, loads, vocabulary)["y"], expected, rtol=1e-4, atol=1e-5)
