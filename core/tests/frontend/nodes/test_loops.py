"""Loop and Scan are unrolled: the graph computes what onnx's reference computes, and what is unknown is refused."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tilewright.comparison.reference import run
from tilewright.errors import Exit
from tilewright.ir.graphs.model_formats import Limits

X = np.array([[1, -2, 3, -4]], np.float32)


def _info(name, type_=TensorProto.FLOAT, shape=None):
    return helper.make_tensor_value_info(name, type_, shape)


def _constant(name, value):
    return numpy_helper.from_array(np.array(value), name)


@pytest.fixture
def agrees(loads, vocabulary):
    """The imported graph computes what onnx's reference does."""

    def check(network, x=X):
        graph = loads(network).graph
        found = run(graph, {"x": x}, vocabulary)
        expected = ReferenceEvaluator(network).run(None, {"x": x})
        for name, values in zip(graph.outputs, expected, strict=True):
            assert np.allclose(found[name].ravel(), values.ravel())  # the reference joins what it should stack
        return graph

    return check


@pytest.fixture
def looped(model):
    """y = x, then y = y * w + i, M times; every y is gathered in `all`."""

    def make(trips=3, condition=True, goes_on=None, known=True):
        going = goes_on or [helper.make_node("Identity", ["going"], ["on"])]
        nodes = [
            *going,
            helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
            helper.make_node("Mul", ["v", "w"], ["m"], "scale"),
            helper.make_node("Add", ["m", "f"], ["n"], "shift"),
            helper.make_node("Identity", ["n"], ["copy"]),
        ]
        body = helper.make_graph(
            nodes,
            "body",
            [_info("i", TensorProto.INT64, []), _info("going", TensorProto.BOOL, []), _info("v")],
            [_info("on", TensorProto.BOOL, []), _info("n"), _info("copy")],
            initializer=[_constant("w", np.float32([2, 2, 2, 2]))],
        )
        loop = helper.make_node("Loop", ["M", "c", "x"], ["y", "all"], "loop", body=body)
        constants = [_constant("c", condition)] + ([_constant("M", trips)] if known else [])
        inputs = [_info("x", shape=[1, 4])] + ([] if known else [_info("M", TensorProto.INT64, [])])
        return model([loop], inputs=inputs, outputs=[_info("y"), _info("all")], constants=constants)

    return make


@pytest.mark.parametrize("trips", [1, 3])
def test_trips_are_copies_of_the_body(agrees, looped, trips) -> None:
    graph = agrees(looped(trips))
    assert sum(node.op == "Mul" for node in graph.nodes) == trips
    assert graph.nodes[0].name == "loop/0/scale"
    assert graph.tensors["all"].shape == (trips, 1, 4)


def test_a_loop_ends_where_its_body_says(agrees, looped) -> None:
    ends = [helper.make_node("Less", ["i", "one"], ["on"])]
    network = looped(9, goes_on=[helper.make_node("Constant", [], ["one"], value_int=1), *ends])
    assert sum(node.op == "Mul" for node in agrees(network).nodes) == 2


def test_what_depends_on_the_input_is_refused(refuses, looped) -> None:
    assert "number of trips" in refuses(looped(known=False), "TW2101", Exit.UNSUPPORTED)
    depends = [
        helper.make_node("ReduceMax", ["v"], ["top"], keepdims=0),
        helper.make_node("Cast", ["top"], ["on"], to=TensorProto.BOOL),
    ]
    assert "whether it goes on" in refuses(looped(goes_on=depends), "TW2101", Exit.UNSUPPORTED)


def test_a_loop_that_makes_no_trip_gathers_nothing_of_known_shape(refuses, looped) -> None:
    assert "no trip" in refuses(looped(0), "TW2101", Exit.UNSUPPORTED)


def test_a_loop_cannot_hang(refuses, looped) -> None:
    assert "--limit nodes=" in refuses(looped(1 << 60), "TW1203", limits=Limits(unrolled=200))


@pytest.mark.parametrize("backwards", [0, 1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("gathered", [0, 1, -1])
def test_a_scan_goes_along_an_axis(loads, vocabulary, model, axis, gathered, backwards) -> None:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "part"], ["t"]), helper.make_node("Neg", ["t"], ["u"])],
        "body",
        [_info("s"), _info("part")],
        [_info("t"), _info("u")],
    )
    along = {"scan_input_axes": [axis], "scan_input_directions": [backwards], "scan_output_axes": [gathered]}
    scan = helper.make_node("Scan", ["zero", "x"], ["last", "y"], "scan", body=body, num_scan_inputs=1, **along)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    zero = _constant("zero", np.zeros(x.shape[1 - axis % 2], np.float32))
    network = model([scan], inputs=[_info("x", shape=[2, 3])], outputs=[_info("last"), _info("y")], constants=[zero])
    values = run(loads(network).graph, {"x": x}, vocabulary)
    sums = np.cumsum(np.flip(np.moveaxis(x, axis, 0), 0) if backwards else np.moveaxis(x, axis, 0), axis=0)
    assert np.array_equal(values["last"], sums[-1])
    assert np.array_equal(values["y"], -np.moveaxis(sums, 0, gathered))


def test_an_axis_that_is_not_there(refuses, model) -> None:
    body = helper.make_graph([helper.make_node("Neg", ["p"], ["q"])], "body", [_info("p")], [_info("q")])
    scan = helper.make_node("Scan", ["x"], ["y"], body=body, num_scan_inputs=1, scan_input_axes=[2])
    assert "no axis" in refuses(model([scan]), "TW1218")
