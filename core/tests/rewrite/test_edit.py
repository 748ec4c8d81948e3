"""Editing frozen graphs: names, replacement, bypass, dead nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import Draft, GraphView, fresh, origins, without_dead
from tilewright.testing.one_step import vocabulary
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


def test_writers_readers_and_positions() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2, 3))
    a = sketch.node("Clip", (x,), {"min": 0.0}, "a")
    b = sketch.node("Add", (a, a), name="b")
    view = GraphView.of(sketch.finish(sketch.node("Add", (b, x), name="c"), b))
    assert view.producer["b:0"].name == "b" and "x" not in view.producer
    assert [node.name for node in view.consumers["x"]] == ["a", "c"]
    assert view.position == {"a": 0, "b": 1, "c": 2}
    assert view.read_once("a:0"), "twice by one node"
    assert not view.read_once("x") and not view.read_once("c:0")
    assert not view.read_once("b:0"), "it is an output, too"


def test_constants_and_what_is_dequantised_of_one_are_known_at_compile_time() -> None:
    sketch = Sketch(operators=vocabulary())
    stored = sketch.constant(np.ones((2, 3), np.int8))
    weights = sketch.dequantize(stored, 0.5)
    given = sketch.dequantize(sketch.input("q", DType.I8, (2, 3)), 0.5)
    view = GraphView.of(sketch.finish(sketch.node("Add", (weights, given))))
    assert view.compile_time(stored) and view.compile_time(weights)
    assert not view.compile_time(given) and not view.compile_time("q")
