"""How LSTM, GRU and RNN become a Gemm and a recurrence: attributes, optional outputs, and what is refused."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.graph import Graph
from tilewright.operators.families import FAMILIES

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def imported(
    kind: str, outputs: tuple[str, ...], *, directions: int = 1, w_directions: int = 0, **attributes: Any
) -> Graph:
    """A layer of three units over [4, 2, 5], weights and biases constant."""
    units = GATES[kind] * 3
    shapes = {"w": (w_directions or directions, units, 5), "r": (directions, units, 3), "b": (directions, 2 * units)}
    numbers = np.random.default_rng(0)
    constants = [
        numpy_helper.from_array(numbers.standard_normal(shape).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    node = helper.make_node(kind, ["x", *shapes], list(outputs), name="n", **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 2, 5])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs if name]
    graph = helper.make_graph([node], "g", [x], results, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return load(model.SerializeToString(), operators=OPERATORS).graph


@pytest.mark.parametrize("kind", sorted(GATES))
def test_one_gemm_and_one_recurrence(kind: str) -> None:
    graph = imported(kind, ("y",))
    assert [node.op for node in graph.nodes] == ["Gemm", f"{kind}Steps", "Reshape"]
    assert graph.tensors["y"].shape == (4, 1, 2, 3)


def test_states_alone_leave_the_other_hidden_states_out() -> None:
    (steps,) = (node for node in imported("LSTM", ("", "h", "c")).nodes if node.op == "LSTMSteps")
    assert len(steps.outputs) == 2


def test_both_directions_with_activations_of_their_own() -> None:
    names = ["Relu", "LeakyRelu", "HardSigmoid", "Affine"]
    graph = imported(
        "GRU", ("y", "h"), directions=2, direction="bidirectional", activations=names, activation_alpha=[0.5, 0.25]
    )
    one, other = (node for node in graph.nodes if node.op == "GRUSteps")
    assert (one.attributes["reverse"], other.attributes["reverse"]) == (0, 1)
    assert one.attributes["activations"] == ("Relu", "LeakyRelu") and one.attributes["alphas"] == (0.0, 0.5)
    assert other.attributes["alphas"] == (0.25, 1.0) and other.attributes["betas"] == (0.5, 0.0)
    assert graph.tensors["y"].shape == (4, 2, 2, 3) and graph.tensors["h"].shape == (2, 2, 3)


def test_batches_first() -> None:
    graph = imported("RNN", ("y", "h"), layout=1)
    assert graph.tensors["y"].shape == (4, 2, 1, 3) and graph.tensors["h"].shape == (4, 1, 3)


def test_a_bias_inside_the_reset() -> None:
    (steps,) = (node for node in imported("GRU", ("y",), linear_before_reset=1).nodes if node.op == "GRUSteps")
    assert steps.inputs[2]


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"direction": "sideways"}, "direction is 'sideways'"),
        ({"hidden_size": 7}, "hidden_size is 7, R has 3"),
        ({"activations": ["Tanh"]}, "3 are needed for each direction"),
        ({"activations": ["Sigmoid", "Tanh", "Cosh"]}, "3 are needed"),
        ({"activation_alpha": [1.0]}, "more values than there are activations"),
        ({"direction": "bidirectional"}, "an entry for each direction"),
    ],
)
def test_refused(attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(TilewrightError, match=reason):
        imported("LSTM", ("y",), **attributes)


@pytest.mark.parametrize(("directions", "w_directions"), [(2, 1), (1, 2)])
def test_weights_of_other_directions_than_the_recurrence(directions: int, w_directions: int) -> None:
    with pytest.raises(TilewrightError, match="an entry for each direction"):
        imported("GRU", ("y",), directions=directions, w_directions=w_directions, direction="bidirectional")
