"""The order of the graph, and one that keeps fewer bytes alive."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule.order import frugal_order, given_order
from tilewright.testing.random_graphs import random_graph, small_world


def graph(*nodes: tuple[str, str, int], outputs: str) -> Graph:
    """Nodes that read some of the values and write one of so many bytes. Values are letters, `x` is the input."""
    made = tuple(Node(name=out, op="Op", inputs=tuple(reads), outputs=(out,)) for out, reads, _ in nodes)
    sizes = {"x": 4, **{out: size for out, _, size in nodes}}
    tensors = {name: Tensor(name=name, dtype=DType.I8, shape=(size,)) for name, size in sizes.items()}
    return Graph(name="g", inputs=("x",), outputs=tuple(outputs), nodes=made, tensors=tensors, constants={}).verify()


def peak(made: Graph, order: tuple[str, ...]) -> int:
    """The most bytes alive at a step, if every value dies with its last reader."""
    nodes = {node.name: node for node in made.nodes}
    last = {name: at for at, step in enumerate(order) for name in nodes[step].inputs}
    last |= dict.fromkeys(made.outputs, len(order))
    born = {name: at for at, name in enumerate(order)} | dict.fromkeys(made.inputs, 0)
    return max(
        sum(made.tensors[name].size_bytes for name in born if born[name] <= at <= last.get(name, born[name]))
        for at in range(len(order))
    )


# two branches, each widened to 100 bytes and narrowed to 5, written down widest first
FORK = graph(("a", "x", 100), ("b", "x", 100), ("c", "a", 5), ("d", "b", 5), ("e", "cd", 5), outputs="e")


def test_the_given_order_is_the_graphs() -> None:
    assert given_order(FORK) == ("a", "b", "c", "d", "e")


def test_one_branch_after_the_other_keeps_one_wide_value() -> None:
    assert frugal_order(FORK) == ("a", "c", "b", "d", "e")
    assert peak(FORK, frugal_order(FORK)) < peak(FORK, given_order(FORK))


def test_ties_are_in_the_given_order() -> None:
    alike = graph(("a", "x", 8), ("b", "x", 8), ("c", "x", 8), ("d", "abc", 8), outputs="d")
    assert frugal_order(alike) == ("a", "b", "c", "d")


def test_what_frees_its_inputs_comes_first() -> None:
    """`b` reads `a` for the last time; of what else is ready, `c` needs less for itself."""
    nodes = ("a", "x", 8), ("c", "x", 9), ("b", "a", 7), ("d", "bc", 1)
    assert frugal_order(graph(*nodes, outputs="d")) == ("a", "b", "c", "d")
    assert frugal_order(graph(*nodes, outputs="da")) == ("a", "c", "b", "d"), "an output is not freed"


@pytest.mark.parametrize("seed", range(20))
def test_every_node_once_after_what_it_reads(seed: int) -> None:
    made = random_graph(random.Random(seed), small_world().operators)
    order = frugal_order(made)
    assert sorted(order) == sorted(given_order(made))
    nodes = {node.name: node for node in made.nodes}
    assert made.with_nodes(tuple(nodes[name] for name in order)).verify()


def test_a_reader_that_became_the_last_one_is_looked_at_again() -> None:
    """Once `c` has run, `d` alone reads `a`: then it frees ninety bytes, and comes before `b`."""
    made = graph(("a", "x", 90), ("c", "a", 6), ("b", "c", 15), ("d", "a", 20), ("e", "bd", 1), outputs="e")
    order = frugal_order(made)
    assert order == ("a", "c", "d", "b", "e")
    best = min(peak(made, one) for one in permutations(given_order(made)) if _legal(made, one))
    assert peak(made, order) == best


def _legal(made: Graph, order: tuple[str, ...]) -> bool:
    seen = set(made.inputs)
    for node in (next(one for one in made.nodes if one.name == name) for name in order):
        if not seen.issuperset(node.inputs):
            return False
        seen.update(node.outputs)
    return True
