"""Editing frozen graphs: names, replacement, bypass, dead nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, fresh, origins, without_dead
from tilewright.testing.sketch import Sketch


def _chain(sketch: Callable[[], Sketch]) -> Graph:
    """x -> first -> second -> third, the last one the output."""
    s = sketch()
    value = s.input("x", DType.F32, (4,))
    for name in ("first", "second", "third"):
        value = s.node("Clip", (value,), {"min": -1.0, "max": 1.0}, name=name)
    return s.finish(value)


def test_fresh_names() -> None:
    assert fresh("a") == "a"
    assert fresh("a", {"a"}, ["a_2"]) == "a_3"


def test_origins_are_kept_once_in_order(sketch: Callable[[], Sketch]) -> None:
    first, second, third = _chain(sketch).nodes
    assert origins(second, replace(first, origin=("q", "second")), third) == ("second", "q", "third")


def test_a_draft_without_edits_is_the_same_graph(sketch: Callable[[], Sketch]) -> None:
    graph = _chain(sketch)
    assert Draft(graph=graph).finish() is graph
    assert without_dead(graph) is graph


def test_bypass_in_the_middle(sketch: Callable[[], Sketch]) -> None:
    graph = _chain(sketch)
    draft = Draft(graph=graph)
    assert draft.bypass(graph.nodes[1], "first:0")
    after = draft.finish().verify()
    assert [node.name for node in after.nodes] == ["first", "third"]
    assert after.nodes[1].inputs == ("first:0",)
    assert "second:0" not in after.tensors


def test_bypass_of_an_output_keeps_its_name(sketch: Callable[[], Sketch]) -> None:
    graph = _chain(sketch)
    draft = Draft(graph=graph)
    assert draft.bypass(graph.nodes[2], "second:0")
    after = draft.finish().verify()
    assert after.outputs == ("third:0",)
    assert after.nodes[-1].name == "second"


def test_bypass_of_neighbours_goes_all_the_way(sketch: Callable[[], Sketch]) -> None:
    graph = _chain(sketch)
    draft = Draft(graph=graph)
    assert draft.bypass(graph.nodes[1], "first:0")
    assert draft.bypass(graph.nodes[2], "second:0")
    after = draft.finish().verify()
    assert [(node.name, node.outputs) for node in after.nodes] == [("first", ("third:0",))]


def test_an_input_cannot_take_the_name_of_an_output(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(s.node("Clip", (s.input("x", DType.F32, (4,)),)))
    draft = Draft(graph=graph)
    assert not draft.bypass(graph.nodes[0], "x")
    assert draft.finish() is graph


def test_new_values_never_clash(sketch: Callable[[], Sketch]) -> None:
    draft = Draft(graph=_chain(sketch))
    names = [draft.value(DType.I8, (1,), "x"), draft.constant(np.zeros(2, np.int8), "x")]
    assert names == ["x_2", "x_3"]
    assert draft.node_name("first") == "first_2"


def test_dead_nodes_and_their_constants_go(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (4,))
    kept = s.node("Clip", (x,))
    s.node("Add", (x, s.constant(np.ones(4, np.float32))))
    after = without_dead(s.finish(kept))
    assert len(after.nodes) == 1
    assert not after.constants
    assert after.inputs == ("x",)
