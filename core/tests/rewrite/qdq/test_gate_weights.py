"""Weights and biases of gates behind slices and reshapes: their integers, their scales, what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.qdq.gate_weights import Rows, real_of, rows_of

WEIGHTS = np.arange(-12, 12, dtype=np.int8).reshape(2, 4, 3)
SCALES = np.float32([0.5, 0.5, 0.25, 0.25])


def view(*nodes: Node, **constants: Any) -> GraphView:
    held = {name: np.asarray(array) for name, array in constants.items()}
    names = {*held, *(name for node in nodes for name in node.outputs)}
    tensors = {
        name: Tensor(
            name=name,
            dtype=DType.from_numpy(held[name].dtype) if name in held else DType.F32,
            shape=held[name].shape if name in held else (2, 4, 3),
        )
        for name in names
    }
    return GraphView.of(Graph(name="g", inputs=(), outputs=(), nodes=nodes, tensors=tensors, constants=held))


def node(op: str, inputs: tuple[str, ...], output: str, **attributes: Any) -> Node:
    return Node(name=output, op=op, inputs=inputs, outputs=(output,), attributes=attributes)


DEQUANTISE = node("DequantizeLinear", ("w", "s"), "d", axis=1)
SECOND = node("Slice", ("d",), "cut", starts=(1, 0, 0), steps=(1, 1, 1), shape=(1, 4, 3))
FLAT = node("Reshape", ("cut",), "flat", shape=(4, 3))


def test_an_entry_of_a_direction() -> None:
    rows = rows_of(view(DEQUANTISE, SECOND, FLAT, w=WEIGHTS, s=SCALES), "flat")
    assert isinstance(rows, Rows) and np.array_equal(rows.integers, WEIGHTS[1])
    assert rows.scales[:, 0].tolist() == SCALES.tolist()
    gates = rows.gates(2)
    assert gates is not None and gates.tolist() == [0.5, 0.25] and rows.gates(4) is None


def test_what_is_no_such_weight_is_said() -> None:
    assert "are not quantised" in str(rows_of(view(w=WEIGHTS, s=SCALES), "w"))
    assert "not i8" in str(rows_of(view(DEQUANTISE, w=WEIGHTS.astype(np.int16), s=SCALES), "d"))
    zero = node("DequantizeLinear", ("w", "s", "z"), "d", axis=1)
    assert "zero point 0" in str(rows_of(view(zero, w=WEIGHTS, s=SCALES, z=np.int8([0, 0, 1, 0])), "d"))
    assert "is not constant" in str(real_of(view(node("Exp", ("s",), "e"), s=SCALES), "e"))


def test_sums_of_biases_are_exact() -> None:
    integers = np.array([2**30 + 1, -(2**30) - 1, 3, 4], np.int32)
    nodes = (
        node("DequantizeLinear", ("b", "s"), "d", axis=0),
        node("Slice", ("d",), "low", starts=(0,), steps=(1,), shape=(2,)),
        node("Slice", ("d",), "high", starts=(2,), steps=(1,), shape=(2,)),
        node("Add", ("low", "high"), "sum"),
        node("Concat", ("sum", "c"), "all", axis=0),
    )
    found = real_of(view(*nodes, b=integers, s=SCALES, c=np.float32([0.5])), "all")
    assert not isinstance(found, str) and found.tolist() == [2**29 + 1.25, -(2**29) + 0.5, 0.5]
