"""Nodes in the order in which a reader of the outputs meets them, whatever order they were listed in."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.use_order import in_order_of_use
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def names(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes]


def test_what_writes_the_first_input_comes_first_with_all_that_it_needs() -> None:
    s = Sketch(operators=vocabulary())
    x = s.input("x", DType.F32, (4,))
    late = s.node("Exp", (x,), name="late")
    early = s.node("Exp", (s.node("Neg", (x,), name="first"),), name="second")
    graph = s.finish(s.node("Add", (early, late), name="sum"))
    assert names(in_order_of_use(graph)) == ["first", "second", "late", "sum"]


def test_outputs_come_one_after_the_other_and_what_nobody_needs_last() -> None:
    s = Sketch(operators=vocabulary())
    x = s.input("x", DType.F32, (4,))
    s.node("Abs", (x,), name="idle")
    one, two = s.node("Neg", (x,), name="one"), s.node("Exp", (x,), name="two")
    graph = s.finish(one, two)
    assert names(in_order_of_use(replace(graph, outputs=(two, one)))) == ["two", "one", "idle"]


def test_a_chain_of_any_length() -> None:
    s = Sketch(operators=vocabulary())
    value = s.input("x", DType.F32, (4,))
    for number in range(1000):
        value = s.node("Exp", (value,), name=f"n{number}")
    graph = s.finish(value)
    assert names(in_order_of_use(replace(graph, nodes=graph.nodes[::-1]))) == names(graph)


@given(st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_before(seed: int, chance: random.Random) -> None:
    s, made = Sketch(operators=vocabulary()), random.Random(seed)
    values = [s.input("x", DType.F32, (4,))]
    for _ in range(12):
        values.append(s.node("Add", (made.choice(values), made.choice(values))))
    graph = s.finish(values[-1], values[3])
    nodes, tensors = list(graph.nodes), list(graph.tensors.items())
    chance.shuffle(nodes)
    chance.shuffle(tensors)
    found = in_order_of_use(replace(graph, nodes=tuple(nodes), tensors=dict(tensors))).verify()
    used = set(found.outputs)
    for node in reversed(found.nodes):
        used |= set(node.inputs) if used.intersection(node.outputs) else set()
    needed = [node for node in found.nodes if used.intersection(node.outputs)]
    again = in_order_of_use(found)
    assert [node for node in again.nodes if node in needed] == needed == list(found.nodes[: len(needed)])
    assert needed == [node for node in in_order_of_use(graph).nodes if node in needed]
    if len(needed) == len(nodes):
        assert list(found.tensors) == list(in_order_of_use(graph).tensors)
