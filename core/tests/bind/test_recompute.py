"""A value that is computed again: the graph means the same, and every reader reads what it should."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.bind import bind
from tilewright.bind.recompute import computed_again, first_name, recomputed
from tilewright.check.stages import verify_bound
from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions, Recomputation
from tilewright.ir.plans.stages import Bound
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch

WORLD = small_world()


def bound_of(graph: Graph) -> Bound:
    return bind(graph, WORLD.platform, WORLD.operators, WORLD.kernels, Decisions())


def three_readers() -> Bound:
    """x -> clip -> a, b, c, which are added up."""
    s = Sketch(operators=WORLD.operators)
    clip = s.node("Clip", (s.input("x", DType.F32, (2, 3)),), {"min": 0.0}, name="clip")
    a, b, c = (s.node("Add", (clip, clip), name=name) for name in "abc")
    return bound_of(s.finish(s.node("Add", (s.node("Add", (a, b), name="ab"), c), name="abc")))


def reads(bound: Bound) -> dict[str, tuple[str, ...]]:
    return {node.name: node.inputs for node in bound.graph.nodes}


def test_the_node_stands_again_before_its_readers() -> None:
    again, name = computed_again(three_readers(), Recomputation(value="clip:0", readers=("b", "c")))
    assert name == "clip:again" and again.bindings[name].kernel is again.bindings["clip"].kernel
    assert [node.name for node in again.graph.nodes] == ["clip", "a", "clip:again", "b", "c", "ab", "abc"]
    assert reads(again)["a"] == ("clip:0",) * 2 and reads(again)["clip:again"] == ("x",)
    assert reads(again)["b"] == reads(again)["c"] == ("clip:0:again",) * 2
    verify_bound(again)


def test_a_copy_is_computed_again_under_the_name_of_the_first() -> None:
    wanted = (
        Recomputation(value="clip:0", readers=("b", "c")),
        Recomputation(value="clip:0:again", readers=("c",)),
        Recomputation(value="ab:0"),  # without readers: never
    )
    again = recomputed(three_readers(), wanted)
    assert [node.name for node in again.graph.nodes] == [
        "clip",
        "a",
        "clip:again",
        "b",
        "clip:again_2",
        "c",
        "ab",
        "abc",
    ]
    assert {first_name(node.name) for node in again.graph.nodes} == {"clip", "a", "b", "c", "ab", "abc"}


@pytest.mark.parametrize(
    ("value", "readers", "says"),
    [
        ("x", ("clip",), "no step computes it"),
        ("nothing", ("a",), "no step computes it"),
        ("clip:0", ("a", "abc"), "'abc' does not read it"),
        ("clip:0", ("a", "b", "c"), "nobody would read it the first time"),
    ],
)
def test_what_cannot_be_computed_again(value: str, readers: tuple[str, ...], says: str) -> None:
    with pytest.raises(TilewrightError) as raised:
        recomputed(three_readers(), (Recomputation(value=value, readers=readers),))
    assert raised.value.code == "TW1118" and says in raised.value.message and raised.value.fix


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_every_value_is_what_it_was(seed: int, times: int) -> None:
    chance = random.Random(seed)
    graph = random_graph(chance, WORLD.operators)
    again = bound = bound_of(graph)
    for _ in range(times):
        readers = {value: nodes for value, nodes in again.graph.consumers().items() if value in again.graph.producer()}
        free = {value: nodes[1:] for value, nodes in readers.items() if len(nodes) > 1}
        if free:
            value = chance.choice(sorted(free))
            again = recomputed(again, (Recomputation(value=value, readers=tuple(node.name for node in free[value])),))
    draw = np.random.default_rng(seed)
    feeds = {name: draw.normal(size=graph.tensors[name].shape).astype(np.float32) for name in graph.inputs}
    before, after = (run(one.graph, feeds, WORLD.operators) for one in (bound, verify_bound(again)))
    assert all(np.array_equal(after[name], before[first_name(name)]) for name in after)
