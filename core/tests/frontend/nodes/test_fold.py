"""Shape arithmetic is computed during import as ONNX defines it, and bombs are refused before they grow."""

from __future__ import annotations

import numpy as np
import pytest
from counted import counted, peak_bytes
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.ir.graphs.model_formats import Limits

I64 = np.int64


def constant(name, value, dtype=I64):
    return numpy_helper.from_array(np.array(value, dtype), name)


@pytest.fixture
def folded(model, loads):
    """The value of `y` of nodes that read only constants, as imported and as onnx's own evaluator has it."""

    def run(nodes, constants, opset=17):
        extra = helper.make_node("Relu", ["x"], ["unused"])
        outputs = [helper.make_tensor_value_info("unused", TensorProto.FLOAT, None)]
        copy = [helper.make_node("Identity", ["y"], ["out"])]
        outputs.append(helper.make_tensor_value_info("out", 0, None))
        made = model([extra, *nodes, *copy], outputs=outputs, constants=constants, opset=opset)
        graph = loads(made).graph
        (copied,) = [node for node in graph.nodes if "out" in node.outputs]
        (expected,) = ReferenceEvaluator(made).run(["out"], {"x": np.zeros((1, 4), np.float32)})
        return graph.constants[copied.inputs[0]], expected

    return run


CASES = [
    ("Add", {}, [[1, 2], 3], 17),
    ("Sub", {}, [[1, 2], [[1], [5]]], 17),
    ("Mul", {}, [[1, 2], 3], 17),
    ("Div", {}, [[7, 9, 8], [2, 4, 3]], 17),
    ("Mod", {}, [[-7, 7], [3, -3]], 17),
    ("Mod", {"fmod": 1}, [[-7, 7], [3, -3]], 17),
    ("Pow", {}, [[2, 3], [3, 2]], 17),
    ("Min", {}, [[1, 5], [2, 3], [4, 0]], 17),
    ("Max", {}, [[1, 5], [2, 3]], 17),
    ("Neg", {}, [[1, -2]], 17),
    ("Abs", {}, [[1, -2]], 17),
    ("Equal", {}, [[1, 2], [1, 3]], 17),
    ("Greater", {}, [[1, 2], [1, 1]], 17),
    ("LessOrEqual", {}, [[1, 2], [1, 1]], 17),
    ("Gather", {"axis": 0}, [[10, 20, 30], [-1, 0]], 17),
    ("Gather", {"axis": 1}, [[[10, 20], [30, 40]], 1], 17),
    ("Squeeze", {}, [[[[1]], [[2]]], [1, -1]], 17),
    ("Squeeze", {"axes": [1]}, [[[1], [2]]], 11),
    ("Unsqueeze", {}, [[1, 2], [0, 2]], 17),
    ("Unsqueeze", {"axes": [0]}, [[1, 2]], 11),
    ("Concat", {"axis": 0}, [[1], [2, 3]], 17),
    ("Slice", {}, [[0, 1, 2, 3, 4], [1], [4]], 17),
    ("Slice", {}, [[0, 1, 2, 3, 4], [-1], [-100], [0], [-2]], 17),
    ("Slice", {}, [[[0, 1, 2], [3, 4, 5]], [1], [1 << 62], [1]], 17),
    ("Slice", {"starts": [1], "ends": [3], "axes": [0]}, [[0, 1, 2, 3]], 9),
    ("Range", {}, [2, 11, 3], 17),
    ("Range", {}, [10, 0, -3], 17),
    ("Range", {}, [0, -1, 1], 17),
    ("Expand", {}, [[[1], [2]], [2, 1, 3]], 17),
    ("Tile", {}, [[[1, 2]], [2, 2]], 17),
    ("Reshape", {}, [[[1, 2], [3, 4]], [-1]], 17),
    ("Reshape", {}, [[[1, 2], [3, 4]], [0, 2, 1]], 17),
    ("Flatten", {"axis": 0}, [[[1, 2], [3, 4]]], 17),
    ("Transpose", {"perm": [1, 0]}, [[[1, 2], [3, 4]]], 17),
    ("Cast", {"to": TensorProto.FLOAT}, [[1, 2]], 17),
    ("Cast", {"to": TensorProto.BOOL}, [[0, 2]], 17),
    ("ReduceProd", {"keepdims": 0}, [[2, 3, 4]], 17),
    ("ReduceSum", {"keepdims": 1}, [[[2, 3], [4, 5]], [1]], 17),
    ("ReduceMax", {"axes": [0], "keepdims": 0}, [[2, 3]], 17),
    ("NonZero", {}, [[0, 3, 0, 4]], 17),
]


@pytest.mark.parametrize(("op", "attributes", "inputs", "opset"), CASES)
def test_as_onnx_defines_it(folded, op, attributes, inputs, opset):
    names = [f"c{index}" for index in range(len(inputs))]
    constants = [constant(name, value) for name, value in zip(names, inputs, strict=True)]
    got, expected = folded([helper.make_node(op, names, ["y"], **attributes)], constants, opset)
    np.testing.assert_array_equal(got, expected)
    assert got.dtype == expected.dtype and got.shape == expected.shape


def test_integer_division_truncates(folded):
    nodes = [helper.make_node("Div", ["a", "b"], ["y"])]
    got, _ = folded(nodes, [constant("a", [-7, 7, -6]), constant("b", [2, -2, 3])])
    assert got.tolist() == [-3, -3, -2]


@pytest.mark.parametrize("value", [0.5, 1.5, 2.7, -0.5])
def test_float_arithmetic_and_where(folded, value):
    nodes = [
        helper.make_node("Round", ["f"], ["r"]),
        helper.make_node("Floor", ["f"], ["l"]),
        helper.make_node("Greater", ["r", "l"], ["g"]),
        helper.make_node("Where", ["g", "r", "l"], ["y"]),
    ]
    got, expected = folded(nodes, [constant("f", value, np.float32)])
    np.testing.assert_array_equal(got, expected)


def test_arithmetic_on_float_weights_is_left_to_the_graph_passes(loads, model):
    constants = [constant("w", [1, 2, 3, 4], np.float32), constant("s", 0.5, np.float32)]
    nodes = [helper.make_node("Div", ["w", "s"], ["d"]), helper.make_node("Add", ["x", "d"], ["y"])]
    assert [node.op for node in loads(model(nodes, constants=constants)).graph.nodes] == ["Div", "Add"]


def test_constant_of_shape_and_split(folded):
    value = helper.make_tensor("v", TensorProto.INT64, [1], [7])
    nodes = [
        helper.make_node("ConstantOfShape", ["s"], ["c"], value=value),
        helper.make_node("Split", ["c", "p"], ["a", "b"], axis=0),
        helper.make_node("Concat", ["b", "a"], ["y"], axis=0),
    ]
    got, expected = folded(nodes, [constant("s", [3]), constant("p", [1, 2])])
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Range", [0, 1 << 40, 1]),
        ("Range", [0.0, 1e30, 1e-3]),
        ("ConstantOfShape", [[1 << 20, 1 << 20]]),
        ("Tile", [[1, 2], [1 << 50]]),
        ("Expand", [[1], [1 << 31, 1 << 31]]),
        ("Tile", [[[1]], [1 << 30, 1 << 33]]),
    ],
)
def test_bombs(refuses, model, op, inputs):
    names = [f"c{index}" for index in range(len(inputs))]
    dtype = np.float64 if isinstance(inputs[0], float) else I64
    constants = [constant(name, value, dtype) for name, value in zip(names, inputs, strict=True)]
    nodes = [helper.make_node(op, names, ["big"], "bomb"), helper.make_node("Relu", ["x"], ["y"])]
    made = model(nodes, constants=constants)
    (text, calls), peak = peak_bytes(lambda: counted(lambda: refuses(made, "TW2101", 4)))
    assert "too large" in text
    assert calls < 10_000 and peak < 1 << 20


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("Div", [[1], [0]], {}),
        ("Mod", [[1], [0]], {}),
        ("Gather", [[1, 2], [2]], {}),
        ("Gather", [[1, 2], [-3]], {}),
        ("Gather", [[1, 2], [0]], {"axis": 4}),
        ("Range", [0, 1, 0], {}),
        ("ConstantOfShape", [[-1]], {}),
        ("Concat", [[1], [[2]]], {"axis": 0}),
        ("Concat", [[1], [2]], {"axis": 7}),
        ("Add", [[1, 2], [1, 2, 3]], {}),
        ("Reshape", [[1, 2], [3]], {}),
        ("Reshape", [[1, 2], [2, 0]], {}),
        ("Expand", [[1, 2], [3]], {}),
        ("Slice", [[1, 2], [0], [1], [0], [0]], {}),
        ("Slice", [[1, 2], [0, 0], [1]], {}),
        ("Transpose", [[[1]]], {"perm": [0, 0]}),
        ("Split", [[1, 2, 3], [1, 1]], {}),
        ("Tile", [[1], [1, 1]], {}),
    ],
)
def test_nonsense(refuses, model, op, inputs, attributes):
    names = [f"c{index}" for index in range(len(inputs))]
    constants = [constant(name, value) for name, value in zip(names, inputs, strict=True)]
    nodes = [helper.make_node(op, names, ["out"], "bad", **attributes), helper.make_node("Relu", ["x"], ["y"])]
    assert "'bad'" in refuses(model(nodes, constants=constants), "TW1218")


def test_the_shape_chain_of_an_exporter_leaves_no_node(loads, model):
    """x.view(x.size(0), -1) as torch exports it."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"], axis=0),
        helper.make_node("Unsqueeze", ["batch", "axes"], ["first"]),
        helper.make_node("Concat", ["first", "minus"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    constants = [constant("zero", 0), constant("axes", [0]), constant("minus", [-1])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2, 3])
    graph = loads(model(nodes, inputs=[x], constants=constants), dims={"N": 4}).graph
    assert [node.op for node in graph.nodes] == ["Reshape"]
    assert graph.tensors["y"].shape == (4, 6)
    assert dict(graph.constants) == {}


def test_dequantised_weights_are_not_folded(loads, model):
    constants = [constant("w", [1, 2, 3, 4], np.int8), constant("s", 0.5, np.float32), constant("z", 0, np.int8)]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]), helper.make_node("Add", ["x", "d"], ["y"])]
    assert [node.op for node in loads(model(nodes, constants=constants)).graph.nodes] == ["DequantizeLinear", "Add"]


def test_computed_constants_are_found_when_an_operator_needs_them(loads, model):
    """Clip's bound is the dequantised value of a constant: computed on demand by the operators' own references."""
    constants = [constant("w", 4, np.int8), constant("s", 0.5, np.float32), constant("z", 0, np.int8)]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"]),
        helper.make_node("Clip", ["x", "", "d"], ["y"]),
    ]
    graph = loads(model(nodes, constants=constants)).graph
    assert graph.nodes[-1].number("max") == 2.0


@pytest.mark.slow
def test_many_folds_together_are_limited(refuses, model):
    """Each result is small enough, two hundred of them are not."""
    nodes = [helper.make_node("ConstantOfShape", ["shape"], [f"big{index}"]) for index in range(200)]
    nodes.append(helper.make_node("Relu", ["x"], ["y"]))
    made = model(nodes, constants=[constant("shape", [1 << 22])])
    (_, calls), peak = peak_bytes(lambda: counted(lambda: refuses(made, "TW2101", 4)))
    assert calls < 1000 * len(nodes) and peak < 2 * Limits().fold_total_bytes
