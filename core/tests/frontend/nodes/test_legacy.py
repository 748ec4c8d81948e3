"""Nodes of operator sets 1 to 6 compute what they were defined to compute."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx.defs
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.frontend.nodes.legacy import IMPORTS

X = (np.arange(24, dtype=np.float32).reshape(1, 3, 2, 4) - 9) / 4
CHANNELS = np.array([1, 2, 3], np.float32)
FIRST = helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)


def result(
    loads,
    model,
    vocabulary,
    op: str,
    opset: int,
    constants: Mapping[str, Any] = MappingProxyType({}),
    **attributes: Any,
):
    node = helper.make_node(op, ["x", *constants], ["y"], **attributes)
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    outputs = [helper.make_empty_tensor_value_info("y")]
    graph = loads(model([node], inputs=[FIRST], outputs=outputs, constants=held, opset=opset)).graph
    return run(graph, {"x": X}, vocabulary)["y"]


@pytest.mark.parametrize("opset", [1, 5, 6])
@pytest.mark.parametrize(
    ("shape", "attributes", "aligned"),
    [
        ((1, 3, 2, 4), {}, (1, 3, 2, 4)),
        ((2, 4), {"broadcast": 1}, (2, 4)),
        ((3,), {"broadcast": 1, "axis": 1}, (3, 1, 1)),
        ((3, 2), {"broadcast": 1, "axis": 1}, (3, 2, 1)),
        ((3,), {"broadcast": 1, "axis": -3}, (3, 1, 1)),
        ((), {"broadcast": 1}, ()),
        ((1,), {"broadcast": 1}, (1,)),
    ],
)
def test_the_second_operand_is_laid_along_the_first(loads, model, vocabulary, opset, shape, attributes, aligned):
    b = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
    for op, compute in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)):
        found = result(loads, model, vocabulary, op, opset, {"b": b}, **attributes)
        np.testing.assert_allclose(found, compute(X, b.reshape(aligned)), rtol=1e-6)


@pytest.mark.parametrize("attributes", [{}, {"broadcast": 1}, {"broadcast": 1, "axis": 2}, {"broadcast": 1, "axis": 9}])
def test_an_operand_that_does_not_fit_is_an_error(refuses, model, attributes):
    node = helper.make_node("Add", ["x", "b"], ["y"], **attributes)
    held = [numpy_helper.from_array(CHANNELS, "b")]
    refuses(model([node], inputs=[FIRST], constants=held, opset=6), "TW1218")


def test_constants_are_laid_out_before_they_are_folded(loads, model):
    nodes = [
        helper.make_node("Add", ["a", "b"], ["s"], broadcast=1, axis=0),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
    ]
    held = [
        numpy_helper.from_array(np.array(values, np.int64), name) for name, values in (("a", [1, 1]), ("b", [1, 11]))
    ]
    outputs = [helper.make_empty_tensor_value_info("y")]
    graph = loads(model(nodes, inputs=[FIRST], outputs=outputs, constants=held, opset=6)).graph
    assert graph.tensors["y"].shape == (2, 12)


@pytest.mark.parametrize(
    ("op", "attributes", "expected"),
    [
        ("Relu", {"consumed_inputs": [0]}, np.maximum(X, 0)),
        ("Clip", {"min": -1.0, "consumed_inputs": [0]}, np.maximum(X, -1)),
        ("Selu", {}, np.where(X > 0, 1.0507 * X, 1.0507 * 1.6732 * np.expm1(X))),
        ("Dropout", {"is_test": 1, "ratio": 0.5}, X),
        ("Reshape", {"shape": [2, 0, -1]}, X.reshape(2, 3, 4)),
        ("Pad", {"paddings": [0, 0, 1, 0, 0, 0, 0, 2], "value": 5.0},
         np.pad(X, ((0, 0), (0, 0), (1, 0), (0, 2)), constant_values=5)),
        ("Upsample", {"height_scale": 2.0, "width_scale": 1.0}, X.repeat(2, axis=2)),
        ("Cast", {"to": "INT32"}, X.astype(np.int32)),
        ("Cast", {"to": "int8"}, X.astype(np.int8)),
        ("AveragePool", {"kernel_shape": [2, 2]}, None),
    ],
)  # fmt: skip
def test_attributes_of_the_first_set(loads, model, vocabulary, op, attributes, expected):
    found = result(loads, model, vocabulary, op, 1, **attributes)
    if expected is None:
        expected = (X[:, :, :1, :-1] + X[:, :, 1:, :-1] + X[:, :, :1, 1:] + X[:, :, 1:, 1:]) / 4
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found.dtype == expected.dtype


def test_upsample_7(loads, model, vocabulary):
    found = result(loads, model, vocabulary, "Upsample", 7, scales=[1.0, 1.0, 2.0, 3.0])
    np.testing.assert_array_equal(found, X.repeat(2, axis=2).repeat(3, axis=3))


@pytest.mark.parametrize("opset", [1, 6])
def test_batch_normalisation_and_slopes(loads, model, vocabulary, opset):
    hint = {"consumed_inputs": [0, 0, 0, 1, 1]} if opset == 1 else {}
    constants = {"s": CHANNELS, "b": -CHANNELS, "m": CHANNELS, "v": CHANNELS}
    found = result(loads, model, vocabulary, "BatchNormalization", opset, constants, is_test=1, **hint)
    c = CHANNELS.reshape(3, 1, 1)
    np.testing.assert_allclose(found, c * (X - c) / np.sqrt(c + np.float32(1e-5)) - c, rtol=1e-5, atol=1e-5)
    slopes = result(loads, model, vocabulary, "PRelu", opset, {"s": CHANNELS})
    np.testing.assert_allclose(slopes, np.where(X < 0, c * X, X), rtol=1e-6)


@pytest.mark.parametrize("op", ["BatchNormalization", "Dropout"])
def test_training_is_refused(refuses, model, op):
    constants = [numpy_helper.from_array(CHANNELS, name) for name in "sbmv"] if op == "BatchNormalization" else []
    node = helper.make_node(op, ["x", *(each.name for each in constants)], ["y"])
    assert "is_test" in refuses(model([node], inputs=[FIRST], constants=constants, opset=6), "TW2101", 4)


def test_tile_and_split_of_the_first_set(loads, model, vocabulary):
    found = result(loads, model, vocabulary, "Tile", 1, {"n": np.float32([2]), "a": np.float32([3])})
    np.testing.assert_array_equal(found, np.tile(X, (1, 1, 1, 2)))
    node = helper.make_node("Split", ["x", "n"], ["y", "z"], axis=3)
    sizes = [numpy_helper.from_array(np.float32([1, 3]), "n")]
    ends = [helper.make_empty_tensor_value_info(name) for name in "yz"]
    graph = loads(model([node], inputs=[FIRST], outputs=ends, constants=sizes, opset=1)).graph
    found = run(graph, {"x": X}, vocabulary)
    np.testing.assert_array_equal(np.concatenate([found["y"], found["z"]], 3), X)
    assert found["y"].shape == (1, 3, 2, 1)


def test_signatures_are_those_of_the_changelog():
    for each in IMPORTS:
        schema = onnx.defs.get_schema(each.op_type, each.since)
        assert schema.since_version == each.since
        assert {name: item.type.name for name, item in schema.attributes.items()} == dict(each.attributes)
        assert (schema.min_input, schema.max_input) == (each.min_inputs, each.max_inputs), each.op_type
