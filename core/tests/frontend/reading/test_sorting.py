"""Order, cycles, names used twice and values that nobody writes."""

from __future__ import annotations

import numpy as np
import pytest
from counted import counted
from onnx import TensorProto, helper, numpy_helper


def relu(source: str, target: str, name: str = "") -> object:
    return helper.make_node("Relu", [source], [target], name)


def test_unsorted_nodes_are_sorted_with_a_warning(loads, model):
    imported = loads(model([relu("b", "y", "last"), relu("a", "b", "middle"), relu("x", "a", "first")]))
    assert [node.name for node in imported.graph.nodes] == ["first", "middle", "last"]
    assert [item.code for item in imported.diagnostics] == ["TW1215"]


def test_a_cycle_names_its_nodes(refuses, model):
    text = refuses(
        model(
            [
                helper.make_node("Add", ["x", "c"], ["a"], "enter"),
                relu("a", "b", "middle"),
                relu("b", "c", "back"),
                relu("c", "y", "out"),
            ]
        ),
        "TW1207",
    )
    assert all(name in text for name in ("'enter'", "'middle'", "'back'")) and "'out'" not in text


def test_a_node_that_reads_itself(refuses, model):
    assert "1 node(s)" in refuses(model([helper.make_node("Add", ["x", "y"], ["y"], "me")]), "TW1207")


def test_a_value_written_twice(refuses, model):
    text = refuses(model([relu("x", "y", "one"), relu("x", "y", "two")]), "TW1208")
    assert "'one'" in text and "'two'" in text


def test_an_input_that_is_written(refuses, model):
    refuses(model([relu("x", "x"), relu("x", "y")]), "TW1208")


def test_an_initialiser_twice(refuses, model):
    weights = numpy_helper.from_array(np.ones(4, np.float32), "w")
    refuses(model([helper.make_node("Add", ["x", "w"], ["y"])], constants=[weights, weights]), "TW1208")


def test_an_input_twice(refuses, model):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    refuses(model([relu("x", "y")], inputs=[x, x]), "TW1208")


def test_an_undefined_value(refuses, model):
    text = refuses(model([relu("x", "a"), relu("nowhere", "y", "lost")]), "TW1209")
    assert "'nowhere'" in text and "'lost'" in text


def test_a_node_without_outputs(refuses, model):
    refuses(model([relu("x", "y"), helper.make_node("Relu", ["x"], [])]), "TW1217")


def test_equal_node_names_are_told_apart(loads, model):
    names = [node.name for node in loads(model([relu("x", "a", "n"), relu("a", "b", "n"), relu("b", "y")])).graph.nodes]
    assert names == ["n", "n_1", "Relu_2"]


@pytest.mark.slow
def test_a_chain_of_2_000_nodes_backwards(loads, model):
    count = 2_000
    nodes = [relu(f"v{i}", f"v{i + 1}") for i in range(count)]
    nodes[0].input[0], nodes[-1].output[0] = "x", "y"
    made = model(nodes[::-1])
    imported, calls = counted(lambda: loads(made))
    assert len(imported.graph.nodes) == count
    assert calls < 500 * count
