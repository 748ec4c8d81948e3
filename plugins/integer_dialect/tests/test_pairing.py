"""Which sums and products of two values become one step with their requantisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from dialect_models import Net, requantised


def _net(op: str, *, constant: bool = False) -> tuple[Net, Any, Any, str]:
    net = Net(1)
    a, b = (net.rng.integers(-128, 128, (3, 4)).astype(np.int8) for _ in "ab")
    given = net.input("a", a.shape), net.input("b", b.shape)
    return net, a, b, net.node(op, *given)


@pytest.mark.parametrize(("op", "step"), [("Add", "integer.PairSum"), ("Sub", "integer.PairSum"), ("Mul", "QMul")])
def test_bytes_are_combined_at_once(op: str, step: str, compute: Callable[..., Any], rewritten: Any) -> None:
    net, a, b, wide = _net(op)
    model = net.model(net.shift(wide, 77, -999, 1 << 10, signed=0))
    total = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}[op](a.astype(int), b.astype(int))
    np.testing.assert_array_equal(compute(model, {"a": a, "b": b})[0], requantised(total, 77, -999, 1 << 10, 0, 255))
    assert [node.op for node in rewritten(model).nodes] == [step]


def test_a_sum_that_others_read_stays(rewritten: Callable[..., Any]) -> None:
    net, _, _, wide = _net("Add")
    assert "integer.PairSum" not in [node.op for node in rewritten(net.model(net.shift(wide, 3, 0), wide)).nodes]


def test_numbers_for_each_column_and_results_of_more_bits_stay(rewritten: Callable[..., Any]) -> None:
    net, _, _, wide = _net("Mul")
    each = net.shift(wide, [1, 2, 3, 4], 0)
    assert "QMul" not in [node.op for node in rewritten(net.model(each)).nodes]
    other, _, _, wide = _net("Mul")
    more = other.shift(wide, 3, 0, levels=1 << 16)
    assert "QMul" not in [node.op for node in rewritten(other.model(more)).nodes]
