"""Values are compared with another runtime's where both have them: ULP for floats, steps for integers, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.builtin import tilewright_operators
from tilewright.comparison.agreement import NodeAgreement, agreements, first_suspicious
from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 16)
Values = dict[str, npt.NDArray[Any]]


def _network() -> Graph:
    """Padded, quantised, dequantised."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (2, 16))
    value = sketch.node("Pad", (x,), {"pads": (0, 1, 0, 1), "mode": "constant", "value": 0.0}, "pad")
    return sketch.finish(sketch.dequantize(sketch.quantize(value, 1 / 64, 0), 1 / 64))


def _compared(change: Values | None = None, *, rounds: bool = True) -> tuple[NodeAgreement, ...]:
    graph = _network()
    ours = run(graph, {"x": X}, OPERATORS)
    theirs = run(graph, {"x": X}, OPERATORS) | (change or {})
    return agreements(graph, [ours], [theirs], rounds=rounds)


def _values() -> tuple[list[str], Values]:
    graph = _network()
    return [name for node in graph.nodes for name in node.outputs], run(graph, {"x": X}, OPERATORS)


def test_equal_values_are_nothing_apart() -> None:
    found = _compared()
    assert [one.op for one in found] == ["Pad", "QuantizeLinear", "DequantizeLinear"]
    assert [one.output for one in found] == [False, False, True]
    assert not any(one.distance or one.drift.verdict.different for one in found)
    assert first_suspicious(found) is None


def test_floats_are_apart_in_ulp_and_integers_in_steps() -> None:
    (pad, quantised, _), values = _values()
    next_to = np.nextafter(np.nextafter(values[pad], np.float32(9)), np.float32(9))
    steps = values[quantised].copy()
    steps.flat[3] -= 1
    found = _compared({pad: next_to, quantised: steps})
    assert [(one.distance, one.unit) for one in found[:2]] == [(2, "ULP"), (1, "step(s)")]
    assert first_suspicious(found) is None


def test_the_first_suspicious_node_is_the_first_that_is_far_away() -> None:
    (pad, _, output), values = _values()
    found = _compared({pad: values[pad] + np.float32(1), output: values[output] * np.float32(3)})
    suspect = first_suspicious(found)
    assert suspect is not None
    assert suspect.op == "Pad"


def test_values_of_another_type_are_not_compared() -> None:
    (_, quantised, _), values = _values()
    found = _compared({quantised: values[quantised].astype(np.uint8)})
    assert [one.op for one in found] == ["Pad", "DequantizeLinear"]
