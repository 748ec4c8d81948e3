"""Trilu, OneHot, IsNaN, IsInf and EyeLike: masks that are constants, values at run time, and what is refused.

The onnx package's own cases of these operators are in `test_onnx_cases_more`.
"""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run


def value(name, dtype, *shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def test_a_triangle_is_a_constant_mask(loads, model):
    graph = loads(model([helper.make_node("Trilu", ["x"], ["y"], upper=0)], inputs=[value("x", 1, 2, 3)])).graph
    assert [node.op for node in graph.nodes] == ["Where"]
    assert [[True, False, False], [True, True, False]] in [array.tolist() for array in graph.constants.values()]


def test_a_triangle_that_is_everything(loads, model):
    k = [numpy_helper.from_array(np.array(-5), "k")]
    nodes = [helper.make_node("Trilu", ["x", "k"], ["t"]), helper.make_node("Relu", ["t"], ["y"])]
    assert [node.op for node in loads(model(nodes, constants=k)).graph.nodes] == ["Clip"]


def test_one_hot_of_values_that_the_program_has(loads, model, vocabulary):
    node = helper.make_node("OneHot", ["i", "depth", "v"], ["y"], axis=0)
    inputs = [value("i", TensorProto.FLOAT, 4), value("v", TensorProto.INT8, 2)]
    depth = [numpy_helper.from_array(np.array([3]), "depth")]
    graph = loads(model([node], inputs=inputs, outputs=[value("y", TensorProto.INT8, 3, 4)], constants=depth)).graph
    given = {"i": np.array([0, -1, 3, -4], np.float32), "v": np.array([5, 7], np.int8)}
    assert run(graph, given, vocabulary)["y"].T.tolist() == [[7, 5, 5], [5, 5, 7], [5, 5, 5], [5, 5, 5]]


@pytest.mark.parametrize(("negative", "wanted"), [(0, [False, True, False]), (1, [True, True, False])])
def test_infinities(loads, model, vocabulary, negative, wanted):
    node = helper.make_node("IsInf", ["x"], ["y"], detect_negative=negative)
    graph = loads(model([node], inputs=[value("x", 1, 3)], outputs=[value("y", 9, 3)])).graph
    x = np.array([-np.inf, np.inf, np.nan], np.float32)
    assert run(graph, {"x": x}, vocabulary)["y"].tolist() == wanted


def test_infinities_of_neither_sign(loads, model):
    node = helper.make_node("IsInf", ["x"], ["y"], detect_negative=0, detect_positive=0)
    graph = loads(model([node], inputs=[value("x", 1, 3)], outputs=[value("y", 9, 3)])).graph
    assert [array.tolist() for array in graph.constants.values()] == [[False, False, False]]


def test_what_is_no_number(loads, model, vocabulary):
    node = helper.make_node("IsNaN", ["x"], ["y"])
    graph = loads(model([node], inputs=[value("x", 1, 2)], outputs=[value("y", 9, 2)])).graph
    assert run(graph, {"x": np.array([np.nan, np.inf], np.float32)}, vocabulary)["y"].tolist() == [True, False]


def test_ones_on_a_diagonal(loads, model):
    nodes = [helper.make_node("EyeLike", ["x"], ["e"], k=1), helper.make_node("Add", ["x", "e"], ["y"])]
    graph = loads(model(nodes, inputs=[value("x", 1, 2, 3)])).graph
    assert [array.tolist() for array in graph.constants.values()] == [[[0, 1, 0], [0, 0, 1]]]


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("EyeLike", ["x"], ["y"], dtype=19), "float8e5m2"),
    ],
)
def test_refused(refuses, model, node, reason):
    assert reason in refuses(model([node]), "TW2101", 4)
