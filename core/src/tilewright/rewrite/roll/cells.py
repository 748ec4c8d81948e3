"""Knows one step of a GRU, an LSTM or an RNN, written with sums, products and activations.
Does not know which steps belong together (`roll_recurrences`).

    GRU    z * h + (1 - z) * tanh(n + r * (h R + b)), or ... tanh(n + (r * h) R)
    LSTM   o * tanh(c'), c' = f * c + i * g
    RNN    tanh or relu of a sum

Sums and products may have their operands in any order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.ir.graphs.graph import Node
from tilewright.ir.tensors.dtypes import DType
from tilewright.rewrite.edit import GraphView
from tilewright.rewrite.roll.gate_sums import GateSum, gate_sum

_MOST_LOOKED_AT = 32  # values of a sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One step. `gates` are in ONNX's order; of a GRU whose reset is behind the product, `inside` is the part of the
    last sum that is of the state, and the last of `gates` the rest of it. A state "" has gone into known numbers.
    """

    kind: str  # "GRU", "LSTM", "RNN"
    states: tuple[str, ...]  # before: hidden, and of an LSTM cell
    results: tuple[str, ...]  # after, alike
    gates: tuple[GateSum, ...]
    inside: GateSum | None
    activations: tuple[str, ...]
    nodes: tuple[Node, ...]

    @property
    def hidden(self) -> int:
        """Units of the state."""
        return self.gates[0].columns

    def recurrence(self) -> tuple[GateSum, ...]:
        """The sums that have the products with the state, in ONNX's order."""
        return self.gates if self.inside is None else (*self.gates[:-1], self.inside)


def cells_at(view: GraphView, node: Node) -> tuple[Cell, ...]:
    """The cells whose hidden result `node` may write, one for each value that may be their state."""
    tensor = view.graph.tensors[node.outputs[0]]
    if tensor.dtype is not DType.F32 or len(tensor.shape) != 2 or node.attributes:
        return ()
    if node.op == "Add":
        return tuple(cell for cell in (_gru(view, node),) if cell is not None)
    if node.op == "Mul":
        return tuple(_lstms(view, node))
    return tuple(_simple(view, node)) if node.op == "Tanh" else ()


def _made(view: GraphView, value: str, op: str) -> Node | None:
    node = view.producer.get(value)
    return node if node is not None and node.op == op and (op != "Mul" or not node.attributes) else None


def _orders(node: Node) -> Iterator[tuple[str, str]]:
    yield node.inputs[0], node.inputs[1]
    yield node.inputs[1], node.inputs[0]


def _activated(view: GraphView, value: str, op: str, state: str) -> tuple[Node, GateSum] | None:
    node = _made(view, value, op)
    total = gate_sum(view, node.inputs[0], state) if node is not None else None
    return (node, total) if node is not None and total is not None else None


def _gru(view: GraphView, last: Node) -> Cell | None:
    for kept_name, new_name in _orders(last):
        kept, new = _made(view, kept_name, "Mul"), _made(view, new_name, "Mul")
        if kept is None or new is None:
            continue
        for rest_name, fresh_name in _orders(new):
            rest = _made(view, rest_name, "Sub")
            if rest is None or not _is_one(view, rest.inputs[0]) or rest.inputs[1] not in kept.inputs:
                continue
            update = rest.inputs[1]
            state = kept.inputs[1] if kept.inputs[0] == update else kept.inputs[0]
            cell = _gru_of(view, (last, kept, new, rest), update, state, fresh_name)
            if cell is not None:
                return cell
    return None


def _is_one(view: GraphView, value: str) -> bool:
    array = view.graph.constants.get(value)
    return array is not None and bool(np.all(array == 1))


def _gru_of(view: GraphView, around: tuple[Node, ...], update: str, state: str, fresh: str) -> Cell | None:
    z, tanh = _activated(view, update, "Sigmoid", state), _made(view, fresh, "Tanh")
    total = _made(view, tanh.inputs[0], "Add") if tanh is not None else None
    if z is None or tanh is None or total is None:
        return None
    for given_name, inner_name in _orders(total):
        outer = gate_sum(view, given_name, state)
        result = _reset(view, inner_name, state)
        if outer is None or outer.weights is not None or result is None:
            continue
        reset, inner, behind, nodes = result
        gates = (z[1], reset, outer) if behind else (z[1], reset, _joined(outer, inner))
        used = (*around, z[0], *z[1].nodes, tanh, total, *outer.nodes, *nodes)
        return Cell(
            kind="GRU",
            states=(state,),
            results=(around[0].outputs[0],),
            gates=gates,
            inside=inner if behind else None,
            activations=("Sigmoid", "Tanh"),
            nodes=used,
        )
    return None


def _joined(outer: GateSum, inner: GateSum) -> GateSum:
    return GateSum(
        columns=outer.columns, given=outer.given, weights=inner.weights, bias=np.asarray(outer.bias + inner.bias)
    )


def _reset(view: GraphView, value: str, state: str) -> tuple[GateSum, GateSum, bool, tuple[Node, ...]] | None:
    """The reset's sum, the sum with the state, whether the product is before the reset, and the nodes."""
    product = _made(view, value, "Mul")
    if product is not None:
        for gate, inner_name in _orders(product):
            reset, inner = _activated(view, gate, "Sigmoid", state), gate_sum(view, inner_name, state)
            if reset is not None and inner is not None and inner.given is None:
                return reset[1], inner, True, (product, reset[0], *reset[1].nodes, *inner.nodes)
    node = view.producer.get(value)
    mixed = _made(view, node.inputs[0], "Mul") if node is not None and node.op in ("Gemm", "MatMul") else None
    if node is None or mixed is None or state not in mixed.inputs:
        return None
    gate = mixed.inputs[1] if mixed.inputs[0] == state else mixed.inputs[0]
    reset, inner = _activated(view, gate, "Sigmoid", state), gate_sum(view, value, mixed.outputs[0])
    if reset is None or inner is None or inner.given is not None:
        return None
    return reset[1], inner, False, (mixed, reset[0], *reset[1].nodes, *inner.nodes)


def _lstms(view: GraphView, last: Node) -> Iterator[Cell]:
    for out_name, shown_name in _orders(last):
        shown = _made(view, shown_name, "Tanh")
        total = _made(view, shown.inputs[0], "Add") if shown is not None else None
        if shown is None or total is None or _made(view, out_name, "Sigmoid") is None:
            continue
        for kept_name, new_name in _orders(total):
            kept, new = _made(view, kept_name, "Mul"), _made(view, new_name, "Mul")
            if kept is not None and new is not None:
                for state in (*_states(view, out_name), ""):
                    yield from _lstms_of(view, (last, shown, total, kept, new), out_name, state)


def _lstms_of(view: GraphView, around: tuple[Node, ...], out_name: str, state: str) -> Iterator[Cell]:
    last, _, total, kept, new = around
    for forget, cell_state in _orders(kept):
        for entry, fresh in _orders(new):
            ops = ((entry, "Sigmoid"), (out_name, "Sigmoid"), (forget, "Sigmoid"), (fresh, "Tanh"))
            result = [_activated(view, name, op, state) for name, op in ops]
            sums = [each for each in result if each is not None]
            if len(sums) == len(ops):
                yield Cell(
                    kind="LSTM",
                    states=(state, cell_state),
                    results=(last.outputs[0], total.outputs[0]),
                    gates=tuple(total_sum for _, total_sum in sums),
                    inside=None,
                    activations=("Sigmoid", "Tanh", "Tanh"),
                    nodes=(*around, *(node for node, total_sum in sums for node in (node, *total_sum.nodes))),
                )


def _simple(view: GraphView, last: Node) -> Iterator[Cell]:
    for state in (*_states(view, last.inputs[0]), ""):
        total = gate_sum(view, last.inputs[0], state)
        if total is not None and (total.weights is not None or not state):
            yield Cell(
                kind="RNN",
                states=(state,),
                results=last.outputs,
                gates=(total,),
                inside=None,
                activations=("Tanh",),
                nodes=(last, *total.nodes),
            )


def _states(view: GraphView, value: str) -> tuple[str, ...]:
    """What is multiplied with known matrices in the sum right above a value."""
    waiting, result = [value], dict[str, None]()
    for name in waiting:  # grows
        node = view.producer.get(name)
        if node is not None and node.op in ("Gemm", "MatMul") and node.inputs[1] in view.graph.constants:
            result[node.inputs[0]] = None
        elif node is not None and node.op in ("Sigmoid", "Add", "Slice") and len(waiting) < _MOST_LOOKED_AT:
            waiting.extend(node.inputs)
    return tuple(result)
