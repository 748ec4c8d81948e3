"""One step is recognised however its sums and products are written, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.roll.cells import cells_at
from tilewright.testing.sketch import Sketch


def _gru(s: Sketch, *, swapped: bool, one: float = 1.0) -> str:
    """A GRU of one unit for each gate, the operands of every sum and product swapped or not."""
    h, parts = s.input("h", DType.F32, (1, 2)), [s.input(name, DType.F32, (1, 2)) for name in "zrn"]

    def pair(op: str, left: str, right: str) -> str:
        return s.node(op, (right, left) if swapped else (left, right))

    weights = [s.constant(np.full((2, 2), number, np.float32)) for number in (1, 2, 3)]
    own = [s.node("MatMul", (h, weight)) for weight in weights]
    z, r = (s.node("Sigmoid", (pair("Add", parts[gate], own[gate]),)) for gate in (0, 1))
    new = s.node("Tanh", (pair("Add", parts[2], pair("Mul", r, own[2])),))
    rest = pair("Mul", s.node("Sub", (s.constant(np.full(1, one, np.float32)), z)), new)
    return pair("Add", pair("Mul", z, h), rest)


@pytest.mark.parametrize("swapped", [False, True])
def test_operands_in_any_order(swapped: bool, sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(_gru(s, swapped=swapped))
    (cell,) = cells_at(GraphView.of(graph), graph.nodes[-1])
    assert (cell.kind, cell.states, cell.results, cell.hidden) == ("GRU", ("h",), graph.outputs, 2)
    assert [each.weights.max() for each in cell.recurrence() if each.weights is not None] == [1, 2, 3]
    assert [gate.given.value for gate in cell.gates if gate.given] == ["z", "r", "n"]
    assert {node.name for node in cell.nodes} == {node.name for node in graph.nodes}


def test_two_minus_a_gate_is_no_gru(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    graph = s.finish(_gru(s, swapped=False, one=2.0))
    assert cells_at(GraphView.of(graph), graph.nodes[-1]) == ()


@pytest.mark.parametrize("op", ["Add", "Mul", "Tanh", "Sigmoid"])
def test_other_nodes_are_no_cells(op: str, sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    x: Any = s.input("x", DType.F32, (2, 3))
    graph = s.finish(s.node(op, (x, x) if op in ("Add", "Mul") else (x,)))
    found = cells_at(GraphView.of(graph), graph.nodes[0])
    assert all(cell.kind == "RNN" and cell.states == ("",) for cell in found)  # a tanh of what is given
