"""What the standard writes for the scale of dynamic quantisation is one step, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.quantisation.recognise_dynamic_scale import PASS
from tilewright.testing.sketch import Sketch


def written(operators: Any, steps: float = 255.0, start: float = 0.0) -> Graph:
    s = Sketch(operators=operators)
    zero, largest, one = (s.constant(np.array(number, np.float32)) for number in (start, steps, 1))
    x = s.input("x", DType.F32, (4, 9))
    axes = {"axes": (0, 1), "keepdims": 0}
    low, high = (s.node(end, (s.node(f"Reduce{end}", (x,), axes), zero)) for end in ("Min", "Max"))
    span = s.node("Sub", (high, low))
    scale = s.node("Where", (s.node("Equal", (span, zero)), one, s.node("Div", (span, largest))))
    inside = s.node("Clip", (s.node("Sub", (zero, s.node("Div", (low, scale)))),), {"min": 0.0, "max": steps})
    point = s.node("Cast", (s.node("Round", (inside,)),), {"to": "u8"})
    return s.finish(s.node("QuantizeLinear", (x, scale, point), {"to": "u8"}), scale, point)


def test_one_step(operators: Any, bench: Any) -> None:
    graph = written(operators)
    after = bench.apply(graph, PASS)
    assert [node.op for node in after.nodes] == ["ReduceMin", "ReduceMax", "DynamicScale", "QuantizeLinear"]
    assert bench.same_bits(graph, after)
    nothing = {"x": np.zeros((4, 9), np.float32)}
    for name in graph.outputs:
        assert np.array_equal(bench.values(after, nothing)[name], bench.values(graph, nothing)[name])


@pytest.mark.parametrize("other", [{"steps": 127.0}, {"start": 1.0}], ids=str)
def test_other_numbers_are_something_else(other: dict[str, float], operators: Any, bench: Any) -> None:
    graph = written(operators, **other)
    assert bench.apply(graph, PASS) is graph
