"""Transposes and Reshapes that meet are joined; weights after a flattened image are permuted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from tilewright.ir.dtypes import DType
from tilewright.rewrite.flatten_into_weights import PASS as FLATTEN
from tilewright.rewrite.merge_transposes import PASS as MERGE
from tilewright.testing.sketch import Sketch

CONV: dict[str, Any] = {
    "kernel_shape": (1, 1),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (0, 0, 0, 0),
    "group": 1,
}


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


@pytest.mark.parametrize("transposed", [0, 1])
def test_flattened_images_are_read_channels_last(transposed: int, sketch: Any, bench: Any) -> None:
    s = sketch()
    generator = np.random.default_rng(0)
    # Small integers, so that float sums are exact in any order.
    weight, dense = (generator.integers(-4, 5, shape).astype(np.float32) for shape in ((3, 2, 1, 1), (36, 5)))
    y = s.node("Conv", (s.input("x", DType.F32, (2, 2, 3, 4)), s.constant(weight)), CONV)
    y = s.node("Clip", (y,), {"min": 0.0})
    y = s.node("Reshape", (y,), {"shape": (2, 36)}, name="flatten")
    attributes = {"alpha": 1.0, "beta": 1.0, "transB": transposed}
    graph = s.finish(s.node("Gemm", (y, s.constant(dense.T.copy() if transposed else dense)), attributes))
    moved = bench.apply(graph, FLATTEN)
    assert [node.op for node in moved.nodes] == ["Conv", "Clip", "Transpose", "Reshape", "Gemm"]
    assert moved.nodes[2].attributes["perm"] == (0, 2, 3, 1)
    assert moved.nodes[2].origin == ("flatten",)
    x = generator.integers(-8, 9, (2, 2, 3, 4)).astype(np.float32)
    results = [bench.values(each, {"x": x})[graph.outputs[0]] for each in (graph, moved)]
    assert np.array_equal(*results)


def test_images_from_outside_are_row_major_and_stay(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    y = s.node("Reshape", (s.input("x", DType.F32, (1, 2, 3, 3)),), {"shape": (1, 18)})
    graph = s.finish(s.node("Gemm", (y, s.constant(np.ones((18, 2), np.float32)))))
    assert bench.apply(graph, FLATTEN) is graph
