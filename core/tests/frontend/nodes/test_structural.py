"""Operators that leave no node behind, and outputs that are somebody else's value."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper


def value(name, shape=None):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def test_identity_inside(loads, model):
    nodes = [helper.make_node("Identity", ["x"], ["i"]), helper.make_node("Relu", ["i"], ["y"])]
    (node,) = loads(model(nodes)).graph.nodes
    assert (node.op, node.inputs) == ("Clip", ("x",))


def test_identity_at_the_end_gives_its_name(loads, model):
    nodes = [helper.make_node("Relu", ["x"], ["r"], "n"), helper.make_node("Identity", ["r"], ["y"])]
    (node,) = loads(model(nodes)).graph.nodes
    assert (node.name, node.outputs) == ("n", ("y",))


def test_an_input_handed_on_is_copied(loads, model):
    (node,) = loads(model([helper.make_node("Identity", ["x"], ["y"])])).graph.nodes
    assert (node.op, node.inputs, node.outputs) == ("Reshape", ("x",), ("y",))


def test_one_value_under_two_output_names(loads, model):
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Identity", ["r"], ["y"]),
        helper.make_node("Identity", ["r"], ["z"]),
    ]
    graph = loads(model(nodes, outputs=[value("y"), value("z")])).graph
    assert graph.outputs == ("y", "z") and [node.op for node in graph.nodes] == ["Clip", "Reshape"]


@pytest.mark.parametrize("opset", [7, 10, 11, 12, 13, 17])
def test_dropout(loads, model, opset):
    attributes = {"ratio": 0.5} if opset < 12 else {}
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Dropout", ["r"], ["y", "mask"], **attributes)]
    assert [node.op for node in loads(model(nodes, opset=opset)).graph.nodes] == ["Clip"]


@pytest.mark.parametrize(("opset", "ratio"), [(7, 0.5), (10, 0.5), (13, None)])
def test_the_mask_of_a_dropout_is_true_everywhere(loads, model, opset, ratio):
    nodes = [helper.make_node("Dropout", ["x"], ["y", "mask"], **({"ratio": ratio} if ratio else {}))]
    graph = loads(model(nodes, outputs=[value("y"), helper.make_tensor_value_info("mask", 0, None)], opset=opset)).graph
    mask = next(node for node in graph.nodes if node.outputs == ("mask",))
    ones = graph.constants[mask.inputs[0]]
    assert ones.all() and ones.shape == graph.tensors["x"].shape
    assert ones.dtype == (np.float32 if opset < 10 else np.bool_)


def test_an_optional_is_a_tensor_or_absent(loads, model):
    nodes = [
        helper.make_node("OptionalGetElement", ["x"], ["t"]),
        helper.make_node("OptionalHasElement", ["x"], ["is"]),
        helper.make_node("OptionalHasElement", [""], ["is_not"]),
        helper.make_node("Relu", ["t"], ["y"]),
    ]
    ends = [value("y"), *(helper.make_tensor_value_info(name, 0, None) for name in ("is", "is_not"))]
    graph = loads(model(nodes, outputs=ends, opset=18)).graph
    assert [node.op for node in graph.nodes] == ["Clip", "Reshape", "Reshape"]
    assert [graph.constants[node.inputs[0]].item() for node in graph.nodes[1:]] == [True, False]


def test_dropout_in_training(refuses, model):
    constants = [numpy_helper.from_array(np.array(True), "t"), numpy_helper.from_array(np.array(0.5, np.float32), "r")]
    nodes = [helper.make_node("Dropout", ["x", "r", "t"], ["y"])]
    assert "model.eval()" in refuses(model(nodes, constants=constants), "TW2101", 4)


@pytest.mark.parametrize(
    ("field", "given", "dtype"),
    [("value_float", 2.0, np.float32), ("value_floats", [1.0, 2.0, 3.0, 4.0], np.float32)],
)
def test_constants(loads, model, field, given, dtype):
    nodes = [helper.make_node("Constant", [], ["c"], **{field: given}), helper.make_node("Add", ["x", "c"], ["y"])]
    graph = loads(model(nodes)).graph
    assert graph.constants["c"].dtype == dtype and graph.constants["c"].tolist() == given


def test_a_constant_without_value(refuses, model):
    refuses(model([helper.make_node("Constant", [], ["c"]), helper.make_node("Add", ["x", "c"], ["y"])]), "TW2101", 4)


def test_shape_with_start_and_end(loads, model):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], start=-1, end=9),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
    ]
    assert loads(model(nodes)).graph.tensors["y"].shape == (4,)


@pytest.mark.parametrize("name", ["x", "n"], ids=["input", "nothing"])
def test_outputs_that_nothing_computes(refuses, model, name):
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    refuses(model(nodes, outputs=[value("y"), value(name)]), "TW2103", 4)


def test_an_initialiser_that_is_an_output_is_copied(loads, model):
    weights = numpy_helper.from_array(np.ones((1, 4), np.float32), "w")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    graph = loads(model(nodes, outputs=[value("y"), value("w")], constants=[weights])).graph
    assert [(node.op, node.inputs, node.outputs) for node in graph.nodes] == [
        ("Add", ("x", "w/value"), ("y",)),
        ("Reshape", ("w/value",), ("w",)),
    ]


def test_an_empty_graph(refuses, model):
    refuses(model([], outputs=[value("x")]), "TW2103", 4)


def test_inputs_with_an_initialiser_are_constants(loads, model):
    weights = numpy_helper.from_array(np.ones((1, 4), np.float32), "w")
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    made = model(nodes, inputs=[value("x", [1, 4]), value("w", [1, 4])], constants=[weights])
    assert loads(made).graph.inputs == ("x",)
