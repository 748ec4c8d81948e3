"""Transposes and Reshapes that meet are joined."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.merge.merge_transposes import PASS as MERGE
from tilewright.testing.sketch import Sketch


@pytest.mark.parametrize("second", list(permutations(range(3))))
def test_two_transposes_are_one_or_none(second: tuple[int, ...], sketch: Any, bench: Any) -> None:
    s = sketch()
    y = s.node("Clip", (s.input("x", DType.F32, (2, 3, 4)),), {"min": -1.0})
    y = s.node("Transpose", (y,), {"perm": (2, 0, 1)})
    graph = s.finish(s.node("Transpose", (y,), {"perm": second}))
    merged = bench.apply(graph, MERGE)
    assert len([node for node in merged.nodes if node.op == "Transpose"]) == (0 if second == (1, 2, 0) else 1)
    assert bench.same_bits(graph, merged)


def test_reshapes_join_and_vanish(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Clip", (s.input("x", DType.F32, (2, 6)),), {"min": -1.0})
    y = s.node("Reshape", (s.node("Reshape", (y,), {"shape": (3, 4)}),), {"shape": (2, 6)})
    graph = s.finish(s.node("Clip", (y,), {"max": 1.0}))
    merged = bench.apply(graph, MERGE)
    assert [node.op for node in merged.nodes] == ["Clip", "Clip"]
    assert bench.same_bits(graph, merged)


def test_transposes_meet_across_elementwise_operators(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Transpose", (s.input("x", DType.I8, (2, 3, 4, 5)),), {"perm": (0, 3, 1, 2)})
    y = s.quantize(s.node("Clip", (s.dequantize(y, 0.5, 3),), {"min": 0.0}), 0.25, -5)
    graph = s.finish(s.node("Transpose", (y,), {"perm": (0, 2, 3, 1)}))
    merged = bench.apply(graph, MERGE)
    assert "Transpose" not in [node.op for node in merged.nodes]
    assert bench.same_bits(graph, merged)


def test_transposes_that_others_read_stay(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    turned = s.node("Transpose", (s.input("x", DType.F32, (2, 3)),), {"perm": (1, 0)})
    graph = s.finish(s.node("Transpose", (s.node("Clip", (turned,)),), {"perm": (1, 0)}), turned)
    merged = bench.apply(graph, MERGE)
    assert [node.op for node in merged.nodes].count("Transpose") == 2
    assert bench.same_bits(graph, merged)


def test_pairs_in_pairs_vanish_in_one_sweep(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.input("x", DType.F32, (2, 3, 4))
    for perm in ((1, 2, 0), (0, 2, 1), (0, 2, 1), (2, 0, 1)):
        y = s.node("Clip", (s.node("Transpose", (y,), {"perm": perm}),), {"min": -1.0})
    graph = s.finish(y)
    merged = bench.apply(graph, MERGE)
    assert [node.op for node in merged.nodes] == ["Clip"] * 4
    assert bench.same_bits(graph, merged)


@pytest.mark.parametrize("seed", range(12))
def test_any_chain_computes_the_same(seed: int, sketch: Callable[[], Sketch], bench: Any) -> None:
    draw, s = random.Random(seed), sketch()
    y = s.input("x", DType.F32, (2, 3, 1, 4))
    outputs = []
    for _ in range(12):
        op = draw.choice(("Transpose", "Transpose", "Clip", "Reshape"))
        shape = s.tensors[y].shape
        attributes: dict[str, Any] = {"perm": tuple(draw.sample(range(len(shape)), len(shape)))}
        if op == "Clip":
            attributes = {"max": draw.uniform(0.5, 1.0)}
        elif op == "Reshape":
            attributes = {"shape": tuple(draw.sample(shape, len(shape)))}
        y = s.node(op, (y,), attributes)
        if draw.random() < 0.1:
            outputs.append(y)
    graph = s.finish(*dict.fromkeys((*outputs, y)))
    assert bench.same_bits(graph, bench.apply(graph, MERGE), seeds=1)
