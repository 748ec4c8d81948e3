"""Equal nodes are computed once; nodes that differ in anything are not merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.merge_duplicates import PASS
from tilewright.testing.sketch import Sketch


def test_chains_of_equal_nodes_collapse(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.I8, (5,))
    sides = [s.node("Clip", (s.dequantize(x, 0.1, 3),), {"min": 0.0}) for _ in range(2)]
    graph = s.finish(s.node("Add", sides))
    merged = bench.apply(graph, PASS)
    assert [node.op for node in merged.nodes] == ["DequantizeLinear", "Clip", "Add"]
    assert bench.same_bits(graph, merged)


def test_other_attributes_or_numbers_are_other_nodes(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.I8, (5,))
    sides = [s.dequantize(x, 0.1, 3), s.dequantize(x, 0.1, 4), s.dequantize(x, 0.2, 3)]
    clipped = [s.node("Clip", (sides[0],), {"min": low}) for low in (0.0, 0.5)]
    graph = s.finish(*sides, *clipped)
    assert bench.apply(graph, PASS) is graph


def test_two_outputs_keep_their_names(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (5,))
    graph = s.finish(*(s.node("Clip", (x,), {"min": 0.0}) for _ in range(2)))
    assert bench.apply(graph, PASS) is graph


def test_equal_large_constants_under_two_names_are_left(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (100,))
    sums = [s.node("Add", (x, s.constant(np.ones(100, np.float32)))) for _ in range(2)]
    graph = s.finish(s.node("Mul", sums))
    assert bench.apply(graph, PASS) is graph
