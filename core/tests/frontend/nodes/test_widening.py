"""Operators that know no floats of 16 bits are imported on float32, between two Casts."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.errors import Exit
from tilewright.ir.tensors.dtypes import DType

TYPES = {TensorProto.FLOAT16: DType.F16, TensorProto.BFLOAT16: DType.BF16}
halves = pytest.mark.parametrize("element", TYPES)


def value(name: str, element: int, *shape: int):
    return helper.make_tensor_value_info(name, element, shape)


@halves
def test_inputs_become_float32_and_results_what_they_were(loads, model, element):
    node = helper.make_node("Softmax", ["x"], ["y"], axis=-1)
    graph = loads(model([node], inputs=[value("x", element, 1, 4)], outputs=[value("y", element, 1, 4)])).graph
    assert [one.op for one in graph.nodes] == ["Cast", "Softmax", "Cast"]
    assert graph.tensors["y"].dtype is TYPES[element]


@halves
def test_an_output_with_a_type_of_its_own_keeps_it(loads, model, element):
    node = helper.make_node("ArgMax", ["x"], ["y"], axis=1)
    output = value("y", TensorProto.INT64, 1, 1)
    graph = loads(model([node], inputs=[value("x", element, 1, 4)], outputs=[output])).graph
    assert graph.tensors["y"].dtype is DType.I64


@halves
def test_constants_are_widened_where_they_are(loads, model, element):
    scale = numpy_helper.from_array(np.array([1, 0.1, 3, 4], TYPES[element].numpy), "s")
    node = helper.make_node("LayerNormalization", ["x", "s"], ["y"])
    graph = loads(
        model([node], inputs=[value("x", element, 1, 4)], outputs=[value("y", element, 1, 4)], constants=[scale])
    ).graph
    assert "f32" in {graph.tensors[name].dtype.value for name in graph.constants}
    assert [one.op for one in graph.nodes][-1] == "Cast"


@halves
def test_families_that_take_them_have_no_cast(loads, model, element):
    node = helper.make_node("Relu", ["x"], ["y"])
    graph = loads(model([node], inputs=[value("x", element, 1, 4)], outputs=[value("y", element, 1, 4)])).graph
    assert [one.op for one in graph.nodes] == ["Clip"]


@halves
def test_a_note_counts_the_nodes_that_take_copies(loads, model, element):
    nodes = [helper.make_node("Softmax", ["x"], ["a"], axis=-1), helper.make_node("Relu", ["a"], ["y"])]
    read = loads(model(nodes, inputs=[value("x", element, 1, 4)], outputs=[value("y", element, 1, 4)]))
    (note,) = read.diagnostics
    assert (note.code, note.severity) == ("TW2104", "note")
    assert note.message == "1 node computes floats of 16 bits on float32 copies: Softmax (1)"


def test_doubles_that_an_operator_does_not_take_are_narrowed_with_a_note(loads, model):
    nodes = [helper.make_node("Add", ["x", "x"], ["a"]), helper.make_node("Softmax", ["a"], ["y"], axis=-1)]
    ends = [value(name, TensorProto.DOUBLE, 1, 4) for name in "xy"]
    read = loads(model(nodes, inputs=ends[:1], outputs=ends[1:]))
    assert [one.op for one in read.graph.nodes] == ["Add", "Cast", "Softmax", "Cast"]
    assert read.graph.tensors["y"].dtype is DType.F64
    (note,) = read.diagnostics
    assert (note.code, note.severity) == ("TW2104", "note")
    assert note.message == "1 node computes floats of 64 bits on float32 copies: Softmax (1)"


def test_what_is_refused_for_another_reason_stays_refused(refuses, model):
    node = helper.make_node("Softmax", ["x"], ["y"], axis=7)
    ends = [value(name, TensorProto.DOUBLE, 1, 4) for name in "xy"]
    refuses(model([node], inputs=ends[:1], outputs=ends[1:]), "TW2101", Exit.UNSUPPORTED)
