"""A graph keeps its promises, or says which is broken."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import WEIGHT_BITS, Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant


def tensor(name: str, *shape: int) -> Tensor:
    return Tensor(name=name, dtype=DType.F32, shape=shape)


def graph() -> Graph:
    """x + c -> a; a + x -> y."""
    return Graph(
        name="g",
        inputs=("x",),
        outputs=("y",),
        nodes=(
            Node(name="one", op="Add", inputs=("x", "c"), outputs=("a",)),
            Node(name="two", op="Add", inputs=("a", "x", ""), outputs=("y",)),
        ),
        tensors={name: tensor(name, 2, 3) for name in ("x", "c", "a", "y")},
        constants={"c": np.ones((2, 3), np.float32)},
    )


def with_node(at: int, **changes: Any) -> Graph:
    nodes = list(graph().nodes)
    nodes[at] = replace(nodes[at], **changes)
    return replace(graph(), nodes=tuple(nodes))


WRONG = {
    "constant 'c' is float32(3,), declared": replace(graph(), constants={"c": np.ones(3, np.float32)}),
    "constant 'c' is int8(2, 3), declared": replace(graph(), constants={"c": np.ones((2, 3), np.int8)}),
    "two nodes are named 'two'": with_node(0, name="two"),
    "node 'one' reads 'y' before it is written": with_node(0, inputs=("x", "y")),
    "node 'two' writes 'a', which has a value already": with_node(1, outputs=("a",)),
    "node 'two' writes 'x', which has a value already": with_node(1, outputs=("x",)),
    "node 'two' writes 'z', which has no type": with_node(1, outputs=("z",)),
    "output 'z' is never written": replace(graph(), outputs=("z",)),
}


@pytest.mark.parametrize("reason", WRONG)
def test_a_broken_promise_is_named(reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        WRONG[reason].verify()


def test_a_sound_graph_is_itself() -> None:
    made = graph()
    assert made.verify() is made


def test_who_writes_and_who_reads() -> None:
    assert {name: node.name for name, node in graph().producer().items()} == {"a": "one", "y": "two"}
    twice = with_node(1, inputs=("a", "a"))
    assert [node.name for node in twice.consumers()["a"]] == ["two"], "each node once"
    assert twice.consumers()["y"] == []


def test_a_site_is_a_node_with_its_tensors() -> None:
    one, two = graph().sites()
    assert (one.output.name, one.input(1).name) == ("a", "c")
    assert one.constant(1) is not None and one.constant(0) is None and one.constant(5) is None
    assert (two.has_input(1), two.has_input(2), two.has_input(3)) == (True, False, False)
    assert two.constants == {}
    with pytest.raises(IndexError, match="two: input 2 is absent"):
        two.input(2)


def test_what_no_node_uses_is_dropped_with_it() -> None:
    left = graph().with_nodes(graph().nodes[1:], inputs=("x", "a"))
    assert set(left.tensors) == {"x", "a", "y"}
    assert left.constants == {}


def test_nothing_of_a_graph_can_be_written_to() -> None:
    made = graph()
    with pytest.raises(ValueError, match="read-only"):
        made.constants["c"][0, 0] = 5
    with pytest.raises(TypeError):
        made.tensors["x"] = tensor("x")


def test_sizes() -> None:
    assert (tensor("t", 2, 3).elements, tensor("t", 2, 3).size_bytes) == (6, 24)
    assert (tensor("t").elements, tensor("t", 0, 3).elements) == (1, 0)


def test_attributes_have_types() -> None:
    requant = Requant(scale=(0.5,), zero_point=0, low=-128, high=127)
    node = Node(name="n", op="Op", inputs=(), outputs=(), attributes={
        "whole": 3, "real": 0.5, "list": (1, 2), "requant": requant
    })  # fmt: skip
    assert (node.integer("whole"), node.integer("none", 7), node.integer("none")) == (3, 7, 0)
    assert (node.number("real"), node.number("whole"), node.number("none", 0.25)) == (0.5, 3.0, 0.25)
    assert (node.integers("list"), node.integers("none"), node.requant()) == ((1, 2), (), requant)
    for ask in (lambda: node.integer("real"), lambda: node.number("list"), lambda: node.integers("whole")):
        with pytest.raises(TypeError, match="attribute"):
            ask()
    assert list(node.attributes) == sorted(node.attributes), "in one order, however they were written"


def test_weights_are_bytes_unless_the_node_says_otherwise() -> None:
    product = Node(name="p", op="QGemm", inputs=("x", "w"), outputs=("y",))
    assert product.weight_bits == 8
    assert replace(product, attributes={WEIGHT_BITS: 4}).weight_bits == 4
