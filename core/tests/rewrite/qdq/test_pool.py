"""Quantised pools and means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.passes import PASSES
from tilewright.testing.sketch import Sketch


def ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def near_real(bench: Any, before: Graph, after: Graph, slack: float = 2e-3) -> None:
    """Every integer output is the nearest step to the real value that the float graph has before its last Q."""
    quantize = before.nodes[-1]
    scale, zero = (float(before.constants[name]) for name in quantize.inputs[1:])
    low, high = before.tensors[quantize.outputs[0]].dtype.limits
    for seed in range(2):
        inputs = bench.inputs(before, seed)
        real = bench.values(before, inputs)[quantize.inputs[0]].astype(np.float64)
        got = bench.values(after, inputs)[after.outputs[0]]
        worst = float(np.abs(got - np.clip(real / scale + zero, low, high)).max())
        assert worst <= 0.5 + slack


POOL: dict[str, Any] = {"strides": (2, 1), "dilations": (1, 1), "ceil_mode": 0}


@pytest.mark.parametrize(
    ("pads", "include", "scales"), [((0, 0, 0, 0), 0, 1), ((1, 0, 1, 1), 1, 1), ((1, 0, 1, 1), 0, 6)]
)
def test_average_pool(pads: tuple[int, ...], include: int, scales: int, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (1, 3, 7, 6)), 0.05, -20)
    attributes: dict[str, Any] = {**POOL, "kernel_shape": (3, 2), "pads": pads, "count_include_pad": include}
    graph = s.finish(s.quantize(s.node("AveragePool", (x,), attributes, name="pool"), 0.03, 11, DType.U8))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QAveragePool", "pool")]
    assert len(lowered.nodes[0].requant().scale) == scales
    near_real(bench, graph, lowered)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_reduce_mean(keepdims: int, operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.U8, (1, 3, 7, 6)), 0.05, 90)
    y = s.node("ReduceMean", (x,), {"axes": (2, 3), "keepdims": keepdims})
    graph = s.finish(s.quantize(y, 0.01, 11))
    lowered = bench.apply(graph, *PASSES)
    assert ops(lowered) == ["QReduceMean"]
    near_real(bench, graph, lowered)
