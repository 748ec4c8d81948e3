"""Nodes of a file: numbers in any encoding, and an order in which each follows what it reads."""

from __future__ import annotations

import pytest
from dialect_models import scalar
from onnx import helper

from tilewright_integer_dialect.file_nodes import OddNode, file_nodes, in_order


def test_whole_numbers_in_any_encoding() -> None:
    raw = helper.make_node("X", [], ["y"], a=3, b=4.0, c=scalar(5), d=[6, 7], e="text", f=0.5)
    (node,) = file_nodes([raw])
    assert [node.words(name) for name in "abcd"] == [(3,), (4,), (5,), (6, 7)] and node.words("z") is None
    assert node.integer("z", "a") == 3 and node.integer("z", default=9) == 9 and node.text("e", "") == "text"
    assert node.label == "node 'X_0' (X)"
    for name, reason in (("f", "no whole number"), ("e", "is no number"), ("z", "is missing"), ("d", "has 2 numbers")):
        with pytest.raises(OddNode, match=reason):
            node.integer(name)


def test_nodes_follow_what_they_read() -> None:
    raw = [
        helper.make_node("N", inputs, [output]) for inputs, output in ((["b", "x"], "c"), (["a"], "b"), (["x"], "a"))
    ]
    assert [node.outputs[0] for node in in_order(file_nodes(raw))] == ["a", "b", "c"]


def test_a_circle_ends() -> None:
    raw = [helper.make_node("N", [inputs], [output]) for inputs, output in (("b", "a"), ("a", "b"), ("b", "c"))]
    assert {node.outputs[0] for node in in_order(file_nodes(raw))} == {"a", "b", "c"}
