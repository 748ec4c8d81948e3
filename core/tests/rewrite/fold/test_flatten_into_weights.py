"""Weights after a flattened image are permuted, so that the image stays channels last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.flatten_into_weights import PASS as FLATTEN
from tilewright.testing.sketch import Sketch

CONV: dict[str, Any] = {
    "kernel_shape": (1, 1),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (0, 0, 0, 0),
    "group": 1,
}


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
