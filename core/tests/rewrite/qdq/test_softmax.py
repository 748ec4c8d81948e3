"""Quantised softmax."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def test_softmax(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), 0.05, -20)
    graph = s.finish(s.quantize(s.node("Softmax", (x,), {"axis": 1}, name="softmax"), 1 / 256, -128))
    lowered = bench.apply(graph, *PASSES)
    assert [(node.op, node.name) for node in lowered.nodes] == [("QSoftmax", "softmax")]
    near_real(bench, graph, lowered, slack=0.5)


def test_softmax_at_a_scale_that_integers_cannot_hold(operators: Any, bench: Any) -> None:
    s = Sketch(operators=operators)
    x = s.dequantize(s.input("x", DType.I8, (4, 9)), 0.05, -20)
    graph = s.finish(s.quantize(s.node("Softmax", (x,), {"axis": 1}, name="softmax"), 2.0**-20, -128))
    assert "Softmax" in ops(bench.apply(graph, *PASSES))
    assert [each.where for each in bench.diagnostics(graph, *PASSES)] == ["softmax"]
