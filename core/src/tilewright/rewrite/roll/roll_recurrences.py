"""Knows the pass that makes a layer of cells that were unrolled: equal cells one after the other, each with the state
that the one before has left, become one GRU, LSTM or RNN over all steps.
Does not know cells (`cells`). Float sums are taken in another order, inside the error model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Graph, Node
from tilewright.ir.graphs.operator import GraphPass, PassContext, PassResult
from tilewright.ir.graphs.topological import topological_order
from tilewright.rewrite.edit import Draft, GraphView, origins
from tilewright.rewrite.roll.cells import Cell, cells_at
from tilewright.rewrite.roll.stacking import Made, stacked

_FEWEST = 3  # steps that are a layer
_MOST_LAYERS = 64  # that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """Cells in order, and what each is given: columns of one value, the same in every step."""

    cells: tuple[Cell, ...]
    given: tuple[str, ...]  # by step
    starts: tuple[int, ...]  # by gate: where its columns begin


def _apply(graph: Graph, context: PassContext) -> PassResult:
    view, draft = GraphView.of(graph), Draft(graph=graph)
    taken: set[str] = set()
    for cells in _chains(view)[:_MOST_LAYERS]:
        layer = _layer(view, _with_first(view, cells))
        if layer is not None and taken.isdisjoint(node.name for cell in layer.cells for node in cell.nodes):
            taken.update(node.name for cell in layer.cells for node in cell.nodes)
            _roll(draft, view, layer)
    rolled = draft.finish()
    return PassResult(graph=graph if rolled is graph else _sorted(rolled))


def _chains(view: GraphView) -> list[list[Cell]]:
    """Runs of equal cells, longest first."""
    ends: dict[tuple[str, ...], list[list[Cell]]] = {}
    for node in view.graph.nodes:
        for cell in cells_at(view, node):
            before = [chain for chain in ends.get(cell.states, ()) if _equal(chain[-1], cell)]
            chain = before[0] if before else []
            if before:
                ends[cell.states].remove(chain)
            chain.append(cell)
            ends.setdefault(cell.results, []).append(chain)
    result = [chain for chains in ends.values() for chain in chains if len(chain) >= _FEWEST]
    return sorted(result, key=len, reverse=True)


def _equal(left: Cell, right: Cell) -> bool:
    if (left.kind, left.hidden, left.inside is None) != (right.kind, right.hidden, right.inside is None):
        return False
    return all(
        (a.weights is None) == (b.weights is None)
        and (a.weights is None or b.weights is None or np.array_equal(a.weights, b.weights))
        and np.array_equal(a.bias, b.bias)
        for a, b in zip((*left.gates, *left.recurrence()), (*right.gates, *right.recurrence()), strict=True)
    )


def _with_first(view: GraphView, cells: list[Cell]) -> list[Cell]:
    """The cells, with one before them whose state is known: its products have become numbers."""
    first = cells[0]
    node = view.producer.get(first.states[0])
    for cell in cells_at(view, node) if node is not None else ():
        same_kind = (cell.kind, cell.hidden, cell.results) == (first.kind, first.hidden, first.states)
        known = all(not name or name in view.graph.constants for name in cell.states)
        if same_kind and known and _follows(view, cell, first):
            return [cell, *cells]
    return cells


def _follows(view: GraphView, known: Cell, cell: Cell) -> bool:
    """Whether the numbers in sums of a cell are the products of its known state that other cells have."""
    name, zeros = known.states[0], np.zeros((1, cell.hidden))
    state = np.asarray(view.graph.constants[name], np.float64).reshape(-1, cell.hidden) if name else zeros
    for own, other in zip((*known.gates, *known.recurrence()), (*cell.gates, *cell.recurrence()), strict=True):
        if own.weights is not None and not (other.weights is not None and np.array_equal(own.weights, other.weights)):
            return False
        product = 0 if other.weights is None or own.weights is not None else state[:1] @ other.weights
        if not np.allclose(np.broadcast_to(own.bias, (own.columns,)), other.bias + product, rtol=1e-5, atol=1e-6):
            return False
    return bool(np.all(state == state[:1]))


def _layer(view: GraphView, cells: list[Cell]) -> _Layer | None:
    """The layer of these cells; None where something outside needs what is inside, or gates are not given one value."""
    if not all(_alone(view, cell, after) for cell, after in zip(cells, (*cells[1:], None), strict=True)):
        return None
    if any(each.weights is None for each in cells[-1].recurrence()):
        return None
    inputs: list[str] = []
    starts: set[tuple[int, ...]] = set()
    for cell in cells:
        parts = [gate.given for gate in cell.gates]
        names = {part.value for part in parts if part is not None}
        if None in parts or len(names) != 1:
            return None
        inputs.append(names.pop())
        starts.add(tuple(part.start for part in parts if part is not None))
    if len(starts) != 1 or len({view.graph.tensors[name].shape for name in inputs}) != 1:
        return None
    results = {name for cell in cells for name in cell.results}
    if len(view.graph.tensors[inputs[0]].shape) != 2 or _reaches(view, results, set(inputs)):
        return None
    return _Layer(cells=tuple(cells), given=tuple(inputs), starts=starts.pop())


def _alone(view: GraphView, cell: Cell, after: Cell | None) -> bool:
    """Whether nothing outside reads what a cell computes but its results; of a cell that has one `after` it, only the
    hidden one, for the other states are not handed out.
    """
    inside = {node.name for node in cell.nodes}
    for value in (value for node in cell.nodes for value in node.outputs):
        if value == cell.results[0] or (value in cell.results and after is None):
            continue
        allowed = inside if value not in cell.results or after is None else inside | {node.name for node in after.nodes}
        if value in view.outputs or any(reader.name not in allowed for reader in view.consumers[value]):
            return False
    return True


def _reaches(view: GraphView, sources: set[str], targets: set[str]) -> bool:
    """Whether a target is computed from a source: what is given would depend on the state."""
    reached = set(sources)
    for node in view.graph.nodes:
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
    return not reached.isdisjoint(targets)


def _roll(draft: Draft, view: GraphView, layer: _Layer) -> None:
    last = layer.cells[-1]
    node = view.producer[last.results[0]]
    every = origins(*(each for cell in layer.cells for each in cell.nodes))
    made = Made(draft=draft, name=f"{node.name}/rolled", origin=every, nodes=[])
    inputs = _operands(made, view, layer)
    whole = _whole(draft, view, layer, made.name)
    steps = Node(
        name=node.name,
        op=f"{last.kind}Steps",
        inputs=inputs,
        outputs=(*last.results, *([whole] if whole else [])),
        attributes=_attributes(last),
        origin=every,
    )
    draft.replacements.update((view.producer[name].name, ()) for name in last.results[1:])
    draft.replace(node, *made.nodes, steps)
    if whole:
        _hand_out(draft, view, layer, whole)


def _operands(made: Made, view: GraphView, layer: _Layer) -> tuple[str, ...]:
    """G, R, RB, P, S, and the states before the first step, without those at the end that are absent."""
    last, draft, bias = layer.cells[-1], made.draft, ""
    gates = _given(made, view, layer)
    if last.inside is not None:
        inner = np.broadcast_to(last.inside.bias, (last.hidden,))
        bias = draft.constant(np.asarray(inner, np.float32), f"{made.name}/RB")
    weights = draft.constant(_recurrent_weights(last), f"{made.name}/R")
    inputs = [gates, weights, bias, "", "", *_states(view, draft, layer)]
    while not inputs[-1]:
        inputs.pop()
    return tuple(inputs)


def _attributes(cell: Cell) -> dict[str, Attribute]:
    count = len(cell.activations)
    attributes: dict[str, Attribute] = {"activations": cell.activations, "alphas": (1.0,) * count, "reverse": 0}
    attributes["betas"] = (0.0,) * count
    if cell.kind == "GRU":
        attributes["linear_before_reset"] = int(cell.inside is not None)
    if cell.kind == "LSTM":
        attributes["input_forget"] = 0
    return attributes


def _given(made: Made, view: GraphView, layer: _Layer) -> str:
    """[T, B, gates * H]: what gates are given in all steps, in ONNX's order, with the numbers of their sums."""
    last, hidden = layer.cells[-1], layer.cells[-1].hidden
    value = stacked(made, view, layer.given)
    steps, rows, columns = made.shape(value)
    wanted = tuple(hidden * gate for gate in range(len(layer.starts)))
    if layer.starts != wanted or columns != hidden * len(wanted):
        part: dict[str, Attribute] = {"steps": (1, 1, 1), "shape": (steps, rows, hidden)}
        parts = [
            made.node("Slice", (value,), (steps, rows, hidden), {**part, "starts": (0, 0, start)})
            for start in layer.starts
        ]
        shape = (steps, rows, hidden * len(parts))
        value = made.node("Concat", parts, shape, {"axis": 2}) if len(parts) > 1 else parts[0]
    bias = np.concatenate([np.broadcast_to(gate.bias, (hidden,)) for gate in last.gates]).astype(np.float32)
    if not bias.any():
        return value
    return made.node("Add", (value, made.draft.constant(bias, f"{made.name}/bias")), made.shape(value), {})


def _recurrent_weights(cell: Cell) -> np.ndarray:
    result = [each.weights for each in cell.recurrence() if each.weights is not None]
    return np.ascontiguousarray(np.concatenate(result, axis=1).T)


def _states(view: GraphView, draft: Draft, layer: _Layer) -> list[str]:
    """The states before the first step; "" for zeros."""
    names = []
    shape = view.graph.tensors[layer.cells[0].results[0]].shape
    for name in layer.cells[0].states:
        array = view.graph.constants.get(name)
        if not name or (array is not None and not array.any()):
            names.append("")
        elif array is not None and array.shape != shape:
            names.append(draft.constant(np.broadcast_to(array, shape).astype(np.float32), f"{name}/state"))
        else:
            names.append(name)
    return names


def _whole(draft: Draft, view: GraphView, layer: _Layer, name: str) -> str:
    """The value of all hidden states, where something outside reads one before the last; else ""."""
    if not any(_readers(view, layer, step) for step in range(len(layer.cells) - 1)):
        return ""
    tensor = view.graph.tensors[layer.cells[0].results[0]]
    return draft.value(tensor.dtype, (len(layer.cells), *tensor.shape), f"{name}/all")


def _readers(view: GraphView, layer: _Layer, step: int) -> bool:
    """Whether the hidden state behind a step is read outside the next cell."""
    value = layer.cells[step].results[0]
    inside = {node.name for node in layer.cells[step + 1].nodes}
    return value in view.outputs or any(reader.name not in inside for reader in view.consumers[value])


def _hand_out(draft: Draft, view: GraphView, layer: _Layer, whole: str) -> None:
    """Hidden states that something outside reads are parts of all of them."""
    for step in range(len(layer.cells) - 1):
        value = layer.cells[step].results[0]
        if not _readers(view, layer, step):
            continue
        writer, shape = view.producer[value], view.graph.tensors[value].shape
        part = Made(draft=draft, name=writer.name, origin=origins(writer), nodes=[])
        cut: dict[str, Attribute] = {"starts": (step, 0, 0), "steps": (1, 1, 1), "shape": (1, *shape)}
        row = part.node("Slice", (whole,), (1, *shape), cut)
        part.node("Reshape", (row,), shape, {"shape": shape}, output=value)
        draft.replace(writer, *part.nodes)


def _sorted(graph: Graph) -> Graph:
    """The nodes in an order in which each is after what it reads, and else as they are."""
    writer = {name: number for number, node in enumerate(graph.nodes) for name in node.outputs}
    before = [{writer[name] for name in node.inputs if name in writer} for node in graph.nodes]
    return graph.with_nodes(tuple(graph.nodes[number] for number in topological_order(before)))


PASS = GraphPass(
    name="roll-recurrences",
    summary="equal cells one after the other become one GRU, LSTM or RNN",
    apply=_apply,
    roots=("Tanh",),
    after=("fuse-matmul-add",),
    before=("fold-channel-constants", "lower-quantised"),
)
