"""Where rows of an input enter the graph: behind what only moves it, before everything that computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.insert_streamed_io import with_arrival, with_departure, with_streamed_io
from tilewright.testing.sketch import Sketch


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([], ["Arrival", "Clip"]),
        (["Transpose"], ["Transpose", "Arrival", "Clip"]),
        (["Reshape", "Transpose"], ["Reshape", "Transpose", "Arrival", "Clip"]),
        (["Transpose", "Reshape"], ["Transpose", "Arrival", "Reshape", "Clip"]),
    ],
)
def test_moves_come_first(moves: list[str], expected: list[str], sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.input("x", DType.F32, (2, 3, 4))
    for move in moves:
        y = s.node(move, (y,), {"perm": (2, 0, 1)} if move == "Transpose" else {"shape": (4, 2, 3)})
    graph = s.finish(s.node("Clip", (y,), {"min": 0.0}))
    made = with_arrival(graph, "x")
    assert ops(made) == expected
    assert bench.same_bits(graph, made)


def test_all_readers_read_what_has_arrived(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (2, 3))
    graph = s.finish(s.node("Add", (s.node("Clip", (x,), {"min": 0.0}), x)))
    made = with_arrival(graph, "x")
    assert [node.op for node in made.consumers()["x"]] == ["Arrival"]
    assert bench.same_bits(graph, made)


def test_what_is_an_output_is_no_way_in(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    moved = s.node("Transpose", (s.input("x", DType.F32, (2, 3)),), {"perm": (1, 0)})
    graph = s.finish(moved, s.node("Clip", (moved,), {"min": 0.0}))
    assert ops(with_arrival(graph, "x"))[0] == "Arrival"


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([], ["Clip", "Departure"]),
        (["Transpose"], ["Clip", "Departure", "Transpose"]),
        (["Reshape"], ["Clip", "Departure", "Reshape"]),
        (["Transpose", "Reshape"], ["Clip", "Transpose", "Departure", "Reshape"]),
    ],
)
def test_moves_come_last(moves: list[str], expected: list[str], sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Clip", (s.input("x", DType.F32, (2, 3, 4)),), {"min": 0.0})
    for move in moves:
        y = s.node(move, (y,), {"perm": (2, 0, 1)} if move == "Transpose" else {"shape": (4, 2, 3)})
    graph = s.finish(y)
    made = with_departure(graph, y)
    assert ops(made) == expected
    assert bench.same_bits(graph, made)


def test_others_read_what_departs(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Clip", (s.input("x", DType.F32, (2, 3)),), {"min": 0.0})
    graph = s.finish(y, s.node("Add", (y, y)))
    made = with_streamed_io(graph, {"x": "push", y: "pull"})
    assert ops(made) == ["Arrival", "Clip", "Departure", "Add"]
    assert made.consumers()[y] == []
    assert bench.same_bits(graph, made)
