"""Branches with a known condition are taken, others chosen at run time; endless loops are refused."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run


def branch(nodes, output, constants=()):
    return helper.make_graph(
        nodes, "b", [], [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], initializer=list(constants)
    )


@pytest.fixture
def choosing(model):
    def make(condition, **changes):
        weights = numpy_helper.from_array(np.full(4, 7, np.float32), "w")
        then = branch([helper.make_node("Add", ["h", "w"], ["t"], "add")], "t", [weights])
        other = branch([helper.make_node("Transpose", ["h"], ["e"], "turn")], "e")
        nodes = [
            helper.make_node("Relu", ["x"], ["h"]),
            helper.make_node("If", ["c"], ["r"], "choose", **{"then_branch": then, "else_branch": other, **changes}),
            helper.make_node("Relu", ["r"], ["y"]),
        ]
        return model(nodes, constants=[numpy_helper.from_array(np.array(condition), "c")])

    return make


def test_the_branch_that_holds_is_inlined(loads, choosing):
    then = loads(choosing(True)).graph
    assert [node.op for node in then.nodes] == ["Clip", "Add", "Clip"]
    assert then.nodes[1].name == "choose/add"
    assert [node.op for node in loads(choosing(False)).graph.nodes] == ["Clip", "Transpose", "Clip"]


def test_a_condition_from_shapes(loads, model):
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Size", ["s"], ["rank"]),
        helper.make_node("Equal", ["rank", "two"], ["c"]),
        helper.make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=branch([helper.make_node("Relu", ["x"], ["t"])], "t"),
            else_branch=branch([helper.make_node("Identity", ["x"], ["e"])], "e"),
        ),
    ]
    graph = loads(model(nodes, constants=[numpy_helper.from_array(np.array(2), "two")])).graph
    assert [node.op for node in graph.nodes] == ["Clip"] and graph.outputs == ("y",)


def at_run_time(made):
    """The same model with a condition that is an input."""
    made.graph.initializer.pop()
    made.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, [1]))
    return made


def test_a_condition_computed_at_run_time_chooses_between_results(loads, choosing, vocabulary):
    same = branch([helper.make_node("Identity", ["h"], ["e"], "as_it_is")], "e")
    graph = loads(at_run_time(choosing(True, else_branch=same))).graph
    assert [node.op for node in graph.nodes] == ["Clip", "Add", "Reshape", "Where", "Clip"]
    x = np.array([[1, -2, 3, -4]], np.float32)
    for condition, wanted in ((True, [8, 7, 10, 7]), (False, [1, 0, 3, 0])):
        found = run(graph, {"x": x, "c": np.array([condition])}, vocabulary)["y"]
        assert found.tolist() == [wanted]


def test_branches_of_other_shapes_cannot_be_chosen_at_run_time(refuses, choosing):
    text = refuses(at_run_time(choosing(True)), "TW2101", 4)
    assert "both branches are computed, and its branches make f32[1, 4] and f32[4, 1]" in " ".join(text.split())


def test_a_branch_that_cannot_be_imported_says_how_to_make_the_condition_known(refuses, choosing):
    odd = branch([helper.make_node("Rleu", ["h"], ["t"], "odd")], "t")
    text = " ".join(refuses(at_run_time(choosing(True, then_branch=odd)), "TW2101", 4).split())
    assert "Rleu" in text and "--bind makes an input known" in text


def test_loops_stay_within_the_limit_of_nodes(refuses, model):
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["c2"]), helper.make_node("Relu", ["v"], ["v2"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [1, 4]),
        ],
        [helper.make_tensor_value_info("c2", TensorProto.BOOL, []), helper.make_tensor_value_info("v2", 1, [1, 4])],
    )
    trips = numpy_helper.from_array(np.array(1 << 60), "trips")
    nodes = [helper.make_node("Loop", ["trips", "", "x"], ["y"], "forever", body=body)]
    assert "unrolled" in refuses(model(nodes, constants=[trips]), "TW1203")


def test_a_branch_that_is_missing(refuses, choosing):
    made = choosing(True)
    del made.graph.node[1].attribute[:]
    refuses(made, "TW1218")


def test_a_branch_may_be_sorted_too(loads, choosing):
    nodes = [helper.make_node("Relu", ["u"], ["t"]), helper.make_node("Relu", ["h"], ["u"])]
    imported = loads(choosing(True, then_branch=branch(nodes, "t")))
    assert [item.code for item in imported.diagnostics] == ["TW1215"]


def test_values_of_a_branch_do_not_leak(refuses, model):
    then = branch([helper.make_node("Relu", ["x"], ["inside"])], "inside")
    nodes = [
        helper.make_node("If", ["c"], ["r"], then_branch=then, else_branch=then),
        helper.make_node("Add", ["r", "inside"], ["y"]),
    ]
    refuses(model(nodes, constants=[numpy_helper.from_array(np.array(True), "c")]), "TW1209")
