"""Local functions, and operators that ONNX defines by others, are inlined; recursion and bombs are found before."""

from __future__ import annotations

import pytest
from counted import counted
from onnx import AttributeProto, TensorProto, helper

from tilewright.ir.graphs.model_formats import Limits

SETS = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]


def function(name, inputs, outputs, nodes, **fields):
    return helper.make_function("local", name, inputs, outputs, nodes, SETS, **fields)


def call(name, inputs, outputs, label="", **attributes):
    return helper.make_node(name, inputs, outputs, label, domain="local", **attributes)


@pytest.fixture
def calling(model):
    return lambda nodes, functions: model(nodes, functions=functions, domains={"local": 1})


def test_inlined_with_names_of_the_call(loads, calling):
    f = function(
        "f", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["t"], "r"), helper.make_node("Add", ["t", "a"], ["b"])]
    )
    graph = loads(calling([call("f", ["x"], ["m"], "one"), call("f", ["m"], ["y"], "two")], [f])).graph
    assert [node.op for node in graph.nodes] == ["Clip", "Add", "Clip", "Add"]
    assert graph.nodes[0].name == "one/r" and graph.nodes[2].name == "two/r"
    assert graph.nodes[3].outputs == ("y",)


def test_attributes_are_put_in(loads, calling):
    inner = helper.make_node("Flatten", ["a"], ["b"])
    inner.attribute.append(AttributeProto(name="axis", ref_attr_name="where", type=AttributeProto.INT))
    f = function("f", ["a"], ["b"], [inner], attributes=["where"])
    graph = loads(calling([call("f", ["x"], ["y"], where=0)], [f])).graph
    assert graph.tensors["y"].shape == (1, 4) and graph.nodes[0].op == "Reshape"
    assert loads(calling([call("f", ["x"], ["y"], where=2)], [f])).graph.tensors["y"].shape == (4, 1)


def test_default_attributes_and_left_out_inputs(loads, calling):
    inner = helper.make_node("Clip", ["a", "low", "high"], ["b"])
    f = function("f", ["a", "low", "high"], ["b"], [inner])
    assert loads(calling([call("f", ["x"], ["y"])], [f])).graph.nodes[0].op == "Clip"


def test_recursion(refuses, calling):
    f = function("f", ["a"], ["b"], [call("g", ["a"], ["b"])])
    g = function("g", ["a"], ["b"], [call("f", ["a"], ["b"])])
    text = refuses(calling([call("f", ["x"], ["y"])], [f, g]), "TW1214")
    assert "'f'" in text and "'g'" in text


@pytest.mark.parametrize("levels", [30, 2000])
def test_a_bomb_is_refused_at_once(refuses, calling, levels):
    functions = [function("f0", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])])]
    for level in range(1, levels):
        nodes = [call(f"f{level - 1}", ["a"], ["t"]), call(f"f{level - 1}", ["t"], ["b"])]
        functions.append(function(f"f{level}", ["a"], ["b"], nodes))
    made = calling([call(f"f{levels - 1}", ["x"], ["y"])], functions)
    text, calls = counted(lambda: refuses(made, "TW1203"))
    assert "inlined" in text
    assert calls < 300 * levels


def test_a_deep_chain_of_functions(refuses, calling):
    functions = [function("f0", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])])]
    functions += [function(f"f{i}", ["a"], ["b"], [call(f"f{i - 1}", ["a"], ["b"])]) for i in range(1, 500)]
    assert "deep" in refuses(calling([call("f499", ["x"], ["y"])], functions), "TW1203")


def test_a_function_defined_twice(refuses, calling):
    f = function("f", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])])
    refuses(calling([call("f", ["x"], ["y"])], [f, f]), "TW1208")


def test_too_many_inputs(refuses, calling):
    f = function("f", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])])
    refuses(calling([call("f", ["x", "x"], ["y"])], [f]), "TW1218")


def test_an_output_that_the_body_never_writes(refuses, calling):
    f = function("f", ["a"], ["c"], [helper.make_node("Relu", ["a"], ["b"])])
    refuses(calling([call("f", ["x"], ["y"])], [f]), "TW1218")


def test_a_reference_outside_a_function(refuses, model):
    node = helper.make_node("Flatten", ["x"], ["y"])
    node.attribute.append(AttributeProto(name="axis", ref_attr_name="where", type=AttributeProto.INT))
    refuses(model([node]), "TW1213")


def test_a_function_with_an_unknown_operator_names_the_call(refuses, calling):
    f = function("f", ["a"], ["b"], [helper.make_node("Det", ["a"], ["b"], "inner")])
    assert "'outer/inner'" in refuses(calling([call("f", ["x"], ["y"], "outer")], [f]), "TW2101", 4)


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
