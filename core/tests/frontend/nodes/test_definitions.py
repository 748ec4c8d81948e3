"""Operators that ONNX defines by others are inlined like local functions, and checked before they are."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper

from tilewright.frontend.reading.import_options import Limits


def test_an_operator_becomes_its_definition(loads, model):
    graph = loads(model([helper.make_node("ThresholdedRelu", ["x"], ["y"], "cut", alpha=0.5)])).graph
    assert [node.op for node in graph.nodes] == ["Less", "Where"]
    assert all(node.name.startswith("cut/") for node in graph.nodes)
    assert [array.item() for array in graph.constants.values()] == [0.5, 0.0]


def test_defaults_are_those_of_onnx(loads, model):
    graph = loads(model([helper.make_node("ThresholdedRelu", ["x"], ["y"])])).graph
    assert 1.0 in [array.item() for array in graph.constants.values()]


def test_a_definition_that_depends_on_types_and_attributes(loads, model):
    names = ("q", "k", "v")
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 2, 3, 4]) for name in names]
    made = model([helper.make_node("Attention", names, ["y"], is_causal=1)], inputs=inputs, opset=23)
    graph = loads(made).graph
    assert graph.tensors["y"].shape == (1, 2, 3, 4)
    assert [node.op for node in graph.nodes].count("Softmax") == 1


def test_a_definition_written_for_a_later_operator_set(loads, model):
    assert loads(model([helper.make_node("Shrink", ["x"], ["y"], lambd=0.5)], opset=9)).graph.outputs == ("y",)


@pytest.mark.parametrize(
    ("node", "code", "status", "reason"),
    [
        (helper.make_node("ThresholdedRelu", ["x"], ["y"], beta=1.0), "TW2101", 4, "attribute 'beta' is not supported"),
        (helper.make_node("ThresholdedRelu", ["x"], ["y"], alpha=1), "TW1218", 3, "alpha is INT, not FLOAT"),
        (helper.make_node("ThresholdedRelu", ["x", "x"], ["y"]), "TW1218", 3, "2 inputs"),
        (helper.make_node("CenterCropPad", ["x"], ["y"]), "TW1218", 3, "1 inputs"),
        (helper.make_node("NoSuchThing", ["x"], ["y"]), "TW2101", 4, "no installed package knows this operator"),
    ],
)
def test_refused(refuses, model, node, code, status, reason):
    assert reason in refuses(model([node], opset=18), code, status)


def test_definitions_count_as_nodes(refuses, model):
    made = model([helper.make_node("ThresholdedRelu", ["x"], ["y"])])
    assert "nodes or more" in refuses(made, "TW1203", limits=Limits(nodes=4))
