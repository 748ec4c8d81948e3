"""LSTM, GRU and RNN with random attributes: the front end and the references beside onnxruntime.

onnxruntime has no batches first: its operands are turned here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.frontend.load import load
from tilewright.operators.families import FAMILIES
from tilewright.operators.recurrent.activations import KINDS

pytestmark = pytest.mark.slow

onnxruntime = pytest.importorskip("onnxruntime")

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}
EXTENTS = st.integers(1, 4)
LARGE = 1e4  # activations without a limit may make anything of a state; then roundings decide
ALPHA = ("Affine", "Elu", "HardSigmoid", "LeakyRelu", "ScaledTanh", "ThresholdedRelu")  # those that take one
BETA = ("Affine", "HardSigmoid", "ScaledTanh")


@st.composite
def layers(draw: st.DrawFn) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """Kind, attributes and operands of a node; operands that are left out are absent."""
    kind, direction = draw(st.sampled_from(sorted(GATES))), draw(st.sampled_from(sorted(DIRECTIONS)))
    steps, batches, inputs, hidden = (draw(EXTENTS) for _ in range(4))
    ways, units = DIRECTIONS[direction], GATES[kind] * hidden
    random = np.random.default_rng(draw(st.integers(0, 2**32)))

    def floats(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    operands = {"X": floats(steps, batches, inputs), "W": floats(ways, units, inputs), "R": floats(ways, units, hidden)}
    optional = {
        "B": floats(ways, 2 * units),
        "S": random.integers(1, steps + 1, batches).astype(np.int32),
        "H0": floats(ways, batches, hidden),
        **({"C0": floats(ways, batches, hidden), "P": floats(ways, 3 * hidden)} if kind == "LSTM" else {}),
    }
    operands |= {name: array for name, array in optional.items() if draw(st.booleans())}
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    if draw(st.booleans()):
        names = [draw(st.sampled_from(sorted(KINDS))) for _ in range(FUNCTIONS[kind] * ways)]
        attributes["activations"] = names
        given_alpha, given_beta = ([name for name in names if name in takers] for takers in (ALPHA, BETA))
        # ONNX leaves the parameters of these open, and onnxruntime takes others than here.
        if {"Affine", "ScaledTanh", "ThresholdedRelu"} & set(names) or (given_alpha and draw(st.booleans())):
            for name, takers in (("activation_alpha", given_alpha), ("activation_beta", given_beta)):
                values = [float(np.float32(random.uniform(0.1, 0.9))) for _ in takers]
                attributes |= {name: values} if values else {}
    if draw(st.booleans()):
        attributes["clip"] = draw(st.sampled_from([0.25, 1.0, 4.0]))
    own = {"LSTM": "input_forget", "GRU": "linear_before_reset"}.get(kind)
    if own and draw(st.booleans()):
        attributes[own] = 1
    return kind, attributes, operands


def model(kind: str, attributes: dict[str, Any], operands: dict[str, np.ndarray]) -> bytes:
    """A network of the node, X and the states inputs of it and all else constant."""
    names = ("X", "W", "R", "B", "S", "H0", *(("C0", "P") if kind == "LSTM" else ()))
    outputs = ["Y", "HN", *(["CN"] if kind == "LSTM" else [])]
    used = [name if name in operands else "" for name in names]
    node = helper.make_node(kind, used, outputs, name="n", **attributes)
    inputs = [
        helper.make_tensor_value_info(
            name, TensorProto.INT32 if name == "S" else TensorProto.FLOAT, operands[name].shape
        )
        for name in operands
        if name not in ("W", "R", "B", "P")
    ]
    constants = [numpy_helper.from_array(operands[name], name) for name in ("W", "R", "B", "P") if name in operands]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "g", inputs, ends, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return bytes(made.SerializeToString())


def ours(content: bytes, operands: dict[str, np.ndarray]) -> list[np.ndarray]:
    graph = load(content, operators=OPERATORS).graph
    found = run(graph, {name: operands[name] for name in graph.inputs}, OPERATORS)
    return [found[name] for name in graph.outputs]


def theirs(content: bytes, operands: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {each.name: operands[each.name] for each in session.get_inputs()}))


@settings(max_examples=150, deadline=None)
@given(layer=layers())
def test_every_attribute(layer: tuple[str, dict[str, Any], dict[str, np.ndarray]]) -> None:
    kind, attributes, operands = layer
    content = model(kind, attributes, operands)
    for found, expected in zip(ours(content, operands), theirs(content, operands), strict=True):
        assert found.shape == expected.shape
        scale = max(1.0, float(np.abs(expected).max()))
        if scale < LARGE:
            assert np.allclose(found, expected, rtol=1e-3, atol=1e-4 * scale)


@settings(max_examples=50, deadline=None)
@given(layer=layers())
def test_batches_first(layer: tuple[str, dict[str, Any], dict[str, np.ndarray]]) -> None:
    kind, attributes, operands = layer
    turned = {
        name: array.swapaxes(0, 1).copy() if name in ("X", "H0", "C0") else array for name, array in operands.items()
    }
    y, *states = ours(model(kind, {**attributes, "layout": 1}, turned), turned)
    expected, *expected_states = ours(model(kind, attributes, operands), operands)
    assert np.array_equal(y, expected.transpose(2, 0, 1, 3))
    for state, wanted in zip(states, expected_states, strict=True):
        assert np.array_equal(state, wanted.swapaxes(0, 1))
