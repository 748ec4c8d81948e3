"""Cells that were unrolled are one layer again: of every kind, however they are given their inputs, and only where the
state goes from one to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.fold.fold_constants import FOLD_CONSTANTS
from tilewright.rewrite.merge.fuse import FUSE_MATMUL_ADD
from tilewright.rewrite.roll.roll_recurrences import PASS as ROLL
from tilewright.testing.sketch import Sketch

STEPS, ROWS, INPUTS, HIDDEN = 5, 2, 3, 4
PASSES = (FOLD_CONSTANTS, FUSE_MATMUL_ADD, ROLL)
MakeSketch = Callable[[], Sketch]


class Unrolled:
    """Writes the steps of a layer; weights are the same in each."""

    def __init__(self, s: Sketch, gates: int, *, inputs: int = INPUTS, seed: int = 1) -> None:
        drawn = np.random.default_rng(seed)
        shapes = ((inputs, gates * HIDDEN), (HIDDEN, gates * HIDDEN), (gates * HIDDEN,), (gates * HIDDEN,))
        self.s, self.gates = s, gates
        self.w, self.r, self.b, self.rb = (s.constant(drawn.normal(size=shape).astype(np.float32)) for shape in shapes)
        self.one = s.constant(np.ones((), np.float32))

    def product(self, value: str, weight: str, bias: str) -> str:
        return self.s.node("Add", (self.s.node("MatMul", (value, weight)), bias))

    def cut(self, value: str, gate: int) -> str:
        rows = self.s.tensors[value].shape[0]
        return self.s.node("Slice", (value,), {"starts": (0, gate * HIDDEN), "steps": (1, 1), "shape": (rows, HIDDEN)})

    def gate(self, op: str, given: str, state: str, gate: int) -> str:
        return self.s.node(op, (self.s.node("Add", (self.cut(given, gate), self.cut(state, gate))),))

    def gru(self, given: str, state: str) -> str:
        """Keras's: the reset is behind the product."""
        s, own = self.s, self.product(state, self.r, self.rb)
        z, r = (self.gate("Sigmoid", given, own, gate) for gate in (0, 1))
        inner = s.node("Mul", (r, self.cut(own, 2)))
        new = s.node("Tanh", (s.node("Add", (self.cut(given, 2), inner)),))
        rest = s.node("Mul", (s.node("Sub", (self.one, z)), new))
        return s.node("Add", (s.node("Mul", (z, state)), rest))

    def gru_before(self, given: str, state: str) -> str:
        """The reset is before the product; matrices of their own for each gate."""
        s, array = self.s, self.s.constants[self.r]
        weights = [s.constant(np.ascontiguousarray(array[:, gate * HIDDEN : (gate + 1) * HIDDEN])) for gate in range(3)]
        z, r = (
            s.node("Sigmoid", (s.node("Add", (s.node("MatMul", (state, weights[gate])), self.cut(given, gate))),))
            for gate in (0, 1)
        )
        inner = s.node("MatMul", (s.node("Mul", (r, state)), weights[2]))
        new = s.node("Tanh", (s.node("Add", (inner, self.cut(given, 2))),))
        return s.node("Add", (s.node("Mul", (s.node("Sub", (self.one, z)), new)), s.node("Mul", (state, z))))

    def lstm(self, given: str, state: str, cell: str) -> tuple[str, str]:
        """PyTorch's order of gates: i f g o."""
        s = self.s
        total = s.node("Add", (given, self.product(state, self.r, self.rb)))
        i, f, o = (s.node("Sigmoid", (self.cut(total, gate),)) for gate in (0, 1, 3))
        g = s.node("Tanh", (self.cut(total, 2),))
        cell = s.node("Add", (s.node("Mul", (f, cell)), s.node("Mul", (i, g))))
        return s.node("Mul", (o, s.node("Tanh", (cell,)))), cell

    def rnn(self, given: str, state: str) -> str:
        return self.s.node("Tanh", (self.s.node("Add", (self.product(state, self.r, self.rb), given)),))


def _steps(s: Sketch, x: str, axis: int, count: int = STEPS) -> list[str]:
    """The value [rows, inputs] of each step, taken along an axis."""
    shape = s.tensors[x].shape
    parts = []
    for step in range(count):
        starts = tuple(step if each == axis else 0 for each in range(3))
        single = tuple(1 if each == axis else extent for each, extent in enumerate(shape))
        part = s.node("Slice", (x,), {"starts": starts, "steps": (1, 1, 1), "shape": single})
        parts.append(s.node("Reshape", (part,), {"shape": tuple(n for each, n in enumerate(shape) if each != axis)}))
    return parts


def _start(s: Sketch, known: bool, name: str = "h") -> str:
    shape = (ROWS, HIDDEN)
    return s.constant(np.zeros(shape, np.float32)) if known else s.input(name, DType.F32, shape)


def _layer(s: Sketch, kind: str, parts: list[str], *, known: bool = True, seed: int = 1, name: str = "h") -> list[str]:
    """The hidden states behind all steps."""
    layer = Unrolled(s, {"rnn": 1, "lstm": 4}.get(kind, 3), inputs=s.tensors[parts[0]].shape[-1], seed=seed)
    state, cell = _start(s, known, name), _start(s, known, f"{name}_cell") if kind == "lstm" else ""
    states = []
    for part in parts:
        given = layer.product(part, layer.w, layer.b)
        if kind == "lstm":
            state, cell = layer.lstm(given, state, cell)
        else:
            state = getattr(layer, kind)(given, state)
        states.append(state)
    return states


def _same(bench: Any, one: Graph, other: Graph) -> bool:
    pairs = zip(bench.outputs(one), bench.outputs(other), strict=True)
    return all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in pairs)


def _kinds(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes if node.op.endswith("Steps")]


KINDS = {"gru": "GRUSteps", "gru_before": "GRUSteps", "lstm": "LSTMSteps", "rnn": "RNNSteps"}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_one_again(kind: str, axis: int, known: bool, sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS, ROWS, INPUTS) if axis == 0 else (ROWS, STEPS, INPUTS))
    graph = s.finish(_layer(s, kind, _steps(s, x, axis), known=known)[-1])
    rolled = bench.apply(graph, *PASSES)
    assert _kinds(rolled) == [KINDS[kind]]
    assert not {"Tanh", "Sigmoid", "MatMul"} & {node.op for node in rolled.nodes}
    assert [node.op for node in rolled.nodes].count("Gemm") == 1  # of all steps with the inputs' weights
    assert len(rolled.nodes) <= 12
    assert _same(bench, graph, rolled)


@pytest.mark.parametrize("kind", KINDS)
def test_states_that_others_read_are_handed_out(kind: str, sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS, ROWS, INPUTS))
    states = _layer(s, kind, _steps(s, x, 0))
    shown = [s.node("Sigmoid", (state,)) for state in states[1::2]]
    graph = s.finish(states[0], states[-1], *shown)
    rolled = bench.apply(graph, *PASSES)
    assert _kinds(rolled) == [KINDS[kind]]
    assert _same(bench, graph, rolled)


@pytest.mark.parametrize("kind", KINDS)
def test_layers_on_top_of_each_other(kind: str, sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS, ROWS, INPUTS))
    below = _layer(s, kind, _steps(s, x, 0))
    graph = s.finish(_layer(s, kind, below, seed=2)[-1])
    rolled = bench.apply(graph, *PASSES)
    assert _kinds(rolled) == [KINDS[kind]] * 2
    assert _same(bench, graph, rolled)


def test_a_layer_that_begins_later(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS + 2, ROWS, INPUTS))
    graph = s.finish(_layer(s, "rnn", _steps(s, x, 0, STEPS + 2)[2:], known=False)[-1])
    rolled = bench.apply(graph, *PASSES)
    assert _kinds(rolled) == ["RNNSteps"]
    assert _same(bench, graph, rolled)


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_that_depend_on_the_state_stay_steps(kind: str, sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    layer = Unrolled(s, {"rnn": 1, "lstm": 4}.get(kind, 3), inputs=HIDDEN)
    part = state = cell = _start(s, known=False)
    for _ in range(STEPS):
        given = layer.product(part, layer.w, layer.b)
        if kind == "lstm":
            state, cell = layer.lstm(given, state, cell)
        else:
            state = getattr(layer, kind)(given, state)
        part = s.node("Clip", (state,), {"min": -0.5})
    graph = s.finish(state)
    rolled = bench.apply(graph, *PASSES)
    assert _kinds(rolled) == []
    assert _same(bench, graph, rolled)


def test_other_weights_are_another_layer(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS, ROWS, INPUTS))
    state = _start(s, known=False)
    for seed, part in enumerate(_steps(s, x, 0)):
        layer = Unrolled(s, 1, seed=seed)
        state = layer.rnn(layer.product(part, layer.w, layer.b), state)
    graph = s.finish(state)
    assert _kinds(bench.apply(graph, *PASSES)) == []


def test_what_is_read_inside_keeps_its_cell(sketch: MakeSketch, bench: Any) -> None:
    s = sketch()
    x = s.input("x", DType.F32, (STEPS, ROWS, INPUTS))
    _layer(s, "lstm", _steps(s, x, 0))
    cells = [node.outputs[0] for node in s.nodes if node.op == "Add" and s.tensors[node.outputs[0]].shape[-1] == HIDDEN]
    last = s.nodes[-1].outputs[0]
    graph = s.finish(last, s.node("Mul", (cells[1], cells[1])))
    rolled = bench.apply(graph, *PASSES)
    assert _same(bench, graph, rolled)
