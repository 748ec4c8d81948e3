"""Nodes that no output depends on are dropped, with what only they read; equal nodes are computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.operator import PassContext
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.remove.redundant_nodes import DEAD_NODES, DROP_CASTS_BACK, MERGE_DUPLICATES
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_only_what_outputs_depend_on_is_left() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (2, 3))
    kept = sketch.node("Clip", (x,), {"min": 0.0}, "kept")
    dead = sketch.node("Add", (kept, sketch.constant(np.ones((2, 3), np.float32))), name="dead")
    sketch.node("Clip", (dead,), {"max": 1.0}, "deader")
    graph = sketch.finish(sketch.node("Clip", (kept,), {"max": 4.0}, "last"))
    left = DEAD_NODES.apply(graph, PassContext(operators=vocabulary())).graph
    assert [node.name for node in left.nodes] == ["kept", "last"]
    assert (set(left.tensors), dict(left.constants)) == ({"x", "kept:0", "last:0"}, {})
    assert left.inputs == ("x",)
    again = DEAD_NODES.apply(left, PassContext(operators=vocabulary())).graph
    assert again == left


def test_chains_of_equal_nodes_collapse(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.I8, (5,))
    sides = [s.node("Clip", (s.dequantize(x, 0.1, 3),), {"min": 0.0}) for _ in range(2)]
    graph = s.finish(s.node("Add", sides))
    merged = bench.apply(graph, MERGE_DUPLICATES)
    assert [node.op for node in merged.nodes] == ["DequantizeLinear", "Clip", "Add"]
    assert bench.same_bits(graph, merged)


def test_other_attributes_or_numbers_are_other_nodes(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.I8, (5,))
    sides = [s.dequantize(x, 0.1, 3), s.dequantize(x, 0.1, 4), s.dequantize(x, 0.2, 3)]
    clipped = [s.node("Clip", (sides[0],), {"min": low}) for low in (0.0, 0.5)]
    graph = s.finish(*sides, *clipped)
    assert bench.apply(graph, MERGE_DUPLICATES) is graph


def test_two_outputs_keep_their_names(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (5,))
    graph = s.finish(*(s.node("Clip", (x,), {"min": 0.0}) for _ in range(2)))
    assert bench.apply(graph, MERGE_DUPLICATES) is graph


def test_equal_large_constants_under_two_names_are_left(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (100,))
    sums = [s.node("Add", (x, s.constant(np.ones(100, np.float32)))) for _ in range(2)]
    graph = s.finish(s.node("Mul", sums))
    assert bench.apply(graph, MERGE_DUPLICATES) is graph


@pytest.mark.parametrize(("there", "back", "left"), [("f64", "f32", []), ("f16", "f32", ["Cast", "Cast"])])
def test_casts_to_what_holds_every_number_and_back_are_gone(
    there: str, back: str, left: list[str], sketch: Any, bench: Any
) -> None:
    s = sketch()
    y = s.node("Clip", (s.input("x", DType.F32, (4,)),), {"min": -1.0})
    y = s.node("Cast", (s.node("Cast", (y,), {"to": there}),), {"to": back})
    graph = s.finish(s.node("Sigmoid", (y,)))
    dropped = bench.apply(graph, DROP_CASTS_BACK)
    assert [node.op for node in dropped.nodes] == ["Clip", *left, "Sigmoid"]
    assert bench.same_bits(graph, dropped)
