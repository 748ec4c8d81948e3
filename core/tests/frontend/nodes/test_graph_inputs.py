"""Inputs that are bound are constants: what follows from them is known, and the graph has them no more."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import Exit

RATE = helper.make_tensor_value_info("sr", TensorProto.INT64, [])
X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])


@pytest.fixture
def speech(model):
    """Which branch is taken depends on the rate of sampling, as in Silero's detector of voices."""

    def branch(op):
        out = helper.make_tensor_value_info("o", TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(op, ["x"], ["o"])], "branch", [], [out])

    nodes = [
        helper.make_node("Equal", ["sr", "k16"], ["fast"]),
        helper.make_node("If", ["fast"], ["y"], then_branch=branch("Relu"), else_branch=branch("Sigmoid")),
    ]
    return model(nodes, inputs=[X, RATE], constants=[numpy_helper.from_array(np.array(16000), "k16")])


def test_a_bound_input_decides_a_branch(loads, speech) -> None:
    both = [node.op for node in loads(speech).graph.nodes]
    assert both == ["Equal", "Clip", "Sigmoid", "Reshape", "Where"]
    found = loads(speech, bind={"sr": "16000"})
    assert found.graph.inputs == ("x",)
    assert [node.op for node in found.graph.nodes] == ["Clip"]
    assert found.bound == {"sr": 16000}
    assert [node.op for node in loads(speech, bind={"sr": "8000"}).graph.nodes] == ["Sigmoid"]


def test_a_file_holds_an_array(loads, model, tmp_path) -> None:
    add = model([helper.make_node("Add", ["x", "b"], ["y"])], inputs=[X, helper.make_tensor_value_info("b", 1, [1, 4])])
    np.save(tmp_path / "b.npy", np.arange(4, dtype=np.float32))
    graph = loads(add, bind={"b": str(tmp_path / "b.npy")}).graph
    assert graph.constants["b"].tolist() == [[0, 1, 2, 3]]
    assert loads(add, bind={"b": "0.5"}).graph.constants["b"].tolist() == [[0.5] * 4]


@pytest.mark.parametrize(
    ("bind", "words"),
    [
        ({"rate": "1"}, "names no input"),
        ({"sr": "fast"}, "is no i64"),
        ({"sr": "1.5"}, "is no i64"),
        ({"sr": "99999999999999999999"}, "is no i64"),
        ({"sr": "absent.npy"}, "cannot be read"),
    ],
)
def test_what_cannot_be_bound(refuses, speech, bind, words) -> None:
    assert words in refuses(speech, "TW1226", Exit.USAGE, bind=bind)


def test_a_file_of_another_type(refuses, speech, tmp_path) -> None:
    np.save(tmp_path / "sr.npy", np.float32(16000))
    assert "holds float32" in refuses(speech, "TW1226", Exit.USAGE, bind={"sr": str(tmp_path / "sr.npy")})


@pytest.mark.parametrize(
    ("dims", "given", "shape"),
    [
        (["N", 4], {"x[0]": 3}, (3, 4)),
        (["N", 4], {"x[1]": 5}, (1, 5)),
        (["N", "N"], {"x[1]": 5}, (5, 5)),
        (["x[1]", 4], {"x[1]": 2}, (2, 4)),
        ([2, None], {"x[0]": 1, "x[1]": 6}, (1, 6)),
        (["N", 4], {"N": 3, "x[0]": 3}, (3, 4)),
    ],
)
def test_a_place_names_any_dimension(loads, model, dims, given, shape) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    network = model([helper.make_node("Relu", ["x"], ["y"])], inputs=[x])
    assert loads(network, dims=given).graph.tensors["x"].shape == shape


@pytest.mark.parametrize("given", [{"x[0]": -1}, {"x[1]": -1}, {"x[0]": 2, "N": 3}, {"x[2]": 1}])
def test_a_place_is_a_dimension_of_one_number(refuses, model, given) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])
    refuses(model([helper.make_node("Relu", ["x"], ["y"])], inputs=[x]), "TW1219", Exit.USAGE, dims=given)


def test_a_weight_that_is_state_is_an_input_that_begins_with_its_elements(loads, model) -> None:
    w = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w:0")
    step = model([helper.make_node("Add", ["x", "w:0"], ["y"])], inputs=[X], constants=[w])
    assert loads(step).graph.inputs == ("x",) and loads(step).states == ()
    for text in ("y:w:0", "y:w:0=0.5"):
        found = loads(step, states=(text,))
        assert found.graph.inputs == ("x", "w:0") and "w:0" not in found.graph.constants
        (state,) = found.states
        assert (state.output, state.input) == ("y", "w:0") and state.initial.tolist() == [0, 1, 2, 3]
    assert loads(step, states=("y:x", "z:w:0", "y:w")).states == ()
