"""Which products and requantisations become one step, and which stay two; the numbers are in the tests of the rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from dialect_models import Net

Rewritten = Callable[..., Any]


def _ops(graph: Any) -> list[str]:
    return [node.op for node in graph.nodes]


def test_sums_that_others_read_stay(rewritten: Rewritten) -> None:
    net = Net()
    sums = net.node("MatMul", net.input("x", (2, 4)), net.weights(4, 3))
    assert _ops(rewritten(net.model(net.shift(sums, 3, 0), sums))) == ["MatMulInteger", "integer.Shift"]


def test_multipliers_below_zero_stay_by_themselves(rewritten: Rewritten) -> None:
    net = Net()
    sums = net.node("MatMul", net.input("x", (2, 4)), net.weights(4, 3))
    assert _ops(rewritten(net.model(net.shift(sums, -3, 0)))) == ["MatMulInteger", "integer.Shift"]


def test_a_bias_that_differs_in_rows_stays(rewritten: Rewritten) -> None:
    net = Net()
    sums = net.node("Add", net.node("MatMul", net.input("x", (2, 4)), net.weights(4, 3)), net.weights(2, 1))
    assert _ops(rewritten(net.model(net.shift(sums, 3, 0)))) == ["MatMulInteger", "Add", "integer.Shift"]


def test_the_step_remembers_where_it_comes_from(rewritten: Rewritten) -> None:
    net = Net()
    sums = net.node("Conv", net.input("x", (1, 2, 5, 5)), net.weights(3, 2, 1, 1), net.weights(3))
    (node,) = rewritten(net.model(net.shift(sums, np.full((3, 1, 1), 7), 0))).nodes
    assert node.op == "QConv" and len(node.inputs) == 3 and len(node.origin) == 2
    assert node.requant().rounding.name == "multiply-shift"
