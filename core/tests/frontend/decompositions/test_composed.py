"""Operators written with others mean what ONNX says: its own cases through the front end and the references."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.test.case.node import collect_testcases

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.load import load
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES

OPERATORS = (
    "DepthToSpace", "Expand", "Mean", "PRelu", "Pow", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare",
    "SpaceToDepth", "Tile",
)  # fmt: skip
PARAMETERS = {"Expand", "Tile", "Pow", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare"}  # input 1
REFUSED = {"test_pow": "exponent must be one number"}  # part of a case's name -> of the reason


@cache
def cases() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: [] for name in OPERATORS}
    for case in collect_testcases(None):
        if case.model is not None and len(case.model.graph.node) == 1:
            found.get(case.model.graph.node[0].op_type, []).append(case)
    return found


@cache
def vocabulary() -> dict[str, Operator]:
    return {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def baked(model: onnx.ModelProto, values: dict[str, Any]) -> onnx.ModelProto:
    """The model with its parameters as constants: a compiler cannot take them at run time."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    (node,) = copy.graph.node
    fixed = node.input[1:] if node.op_type in PARAMETERS else ()
    for value in [value for value in copy.graph.input if value.name in fixed]:
        copy.graph.input.remove(value)
        copy.graph.initializer.append(onnx.numpy_helper.from_array(values[value.name], value.name))
    return copy


def difference(case: Any) -> str:
    """What is wrong with the result; "" when nothing is."""
    inputs, (expected,) = case.data_sets[0]
    values = dict(zip((value.name for value in case.model.graph.input), inputs, strict=True))
    graph = load(baked(case.model, values).SerializeToString(), operators=vocabulary()).graph
    got = run(graph, {name: values[name] for name in graph.inputs}, vocabulary())[case.model.graph.output[0].name]
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return f"{got.dtype}{got.shape}, expected {expected.dtype}{expected.shape}"
    return "" if np.allclose(got, expected, rtol=case.rtol, atol=case.atol, equal_nan=True) else "another result"


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_cases(operator: str) -> None:
    wrong, right = {}, 0
    for case in cases()[operator]:
        try:
            problem = difference(case)
        except TilewrightError as error:
            reason = next((reason for part, reason in REFUSED.items() if part in case.name), None)
            problem = "" if reason is not None and reason in str(error) else str(error)
        else:
            right += not problem
        if problem:
            wrong[case.name] = problem
    assert not wrong
    assert right or operator == "Pow"


def test_the_root_below_one_of_minus_zero_is_infinite() -> None:
    node = helper.make_node("Pow", ["x", "e"], ["y"])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    constant = onnx.numpy_helper.from_array(np.float32(-0.5), "e")
    graph = helper.make_graph([node], "g", [x], [y], [constant])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    imported = load(made.SerializeToString(), operators=vocabulary()).graph
    found = run(imported, {"x": np.float32([-0.0, -1.0])}, vocabulary())["y"]
    assert found[0] == np.inf and np.isnan(found[1])


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, 4.0, 0.5, -0.5, -1.0, -2.0])
def test_powers_by_a_small_number(exponent: float) -> None:
    x = np.linspace(0.1, 3, 7, dtype=np.float32)
    node = helper.make_node("Pow", ["x", "e"], ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [7]) for name in "xy"]
    constant = onnx.numpy_helper.from_array(np.float32(exponent), "e")
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    found = run(load(model.SerializeToString(), operators=vocabulary()).graph, {"x": x}, vocabulary())["y"]
    np.testing.assert_allclose(found, x.astype(np.float64) ** exponent, rtol=1e-6)


def test_an_expand_of_nothing_is_nothing(loads, model) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [0, 4])
    shape = helper.make_tensor("shape", TensorProto.INT64, [3], [2, 1, 4])
    graph = loads(model([helper.make_node("Expand", ["x", "shape"], ["y"])], inputs=[x], constants=[shape])).graph
    assert graph.tensors["y"].shape == (2, 0, 4)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("starts", "wanted"),
    [([1, 2, 3, 4, 5], [2, 3]), ([1, 2, 3, 4], [2, 3]), ([1, 2], [0, 1, 2, 0, 0]), ([1, 2], [0, 0, 1, 2, 0, 0])],
)
def test_the_middle_is_cut_out_or_bordered(loads, model, starts: list[int], wanted: list[int], kind: type) -> None:
    ends = [helper.make_tensor_value_info("x", TensorProto.INT32, [1, len(starts)])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT32, None)]
    size = onnx.numpy_helper.from_array(np.array([len(wanted)], kind), "size")
    node = helper.make_node("CenterCropPad", ["x", "size"], ["y"], axes=[-1])
    graph = loads(model([node], inputs=ends, outputs=outputs, constants=[size], opset=18)).graph
    given = {"x": np.array([starts], np.int32)}
    assert run(graph, given, vocabulary())["y"].tolist() == [wanted]


def test_a_mean_of_doubles(loads, model) -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, [3]) for name in ("a", "b", "y")]
    graph = loads(model([helper.make_node("Mean", ["a", "b"], ["y"])], inputs=ends[:2], outputs=ends[2:])).graph
    given = {"a": np.array([1.0, 2.0, 4.0]), "b": np.array([2.0, 2.0, 5.0])}
    assert run(graph, given, vocabulary())["y"].tolist() == [1.5, 2.0, 4.5]


@pytest.mark.parametrize(("op", "inputs"), [("Mean", "ab"), ("PRelu", "ab"), ("Celu", "a"), ("IsInf", "a")])
def test_scalars_stay_scalars(loads, model, op: str, inputs: str) -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, []) for name in "ab"]
    outputs = [helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)]
    graph = loads(model([helper.make_node(op, list(inputs), ["y"])], inputs=ends, outputs=outputs)).graph
    assert graph.tensors["y"].shape == ()
