"""Knows the integers at a graph's border: which scale and zero point they stand for, by the nodes next to them, and how
float inputs and outputs become the integers that the network computes with. Does not know who asks.

The QuantizeLinear behind an input and the DequantizeLinear before an output are left out then.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tilewright.errors import TilewrightError, usage_error
from tilewright.frontend.nodes.builder import renamed
from tilewright.frontend.reading.names import show
from tilewright.ir.graphs.graph import Graph, Node, Quantization
from tilewright.ir.tensors.dtypes import DType

STORED = (DType.I8, DType.U8, DType.I16, DType.U16)  # types of quantised inputs and outputs
AFFINE = frozenset(("QuantizeLinear", "DequantizeLinear"))
_KEEPING = frozenset(("MaxPool", "Reshape", "Slice", "Transpose"))  # what they hand on stands for the same as before
_MOVING = frozenset(("Reshape", "Transpose"))  # bit-equal before and behind QuantizeLinear


def with_quantization(graph: Graph) -> Graph:
    """The graph, every quantised input and output with its `Quantization`; without where nodes around it differ, where
    it is one for each channel, or where there is none.
    """
    neighbours = _neighbours(graph)
    tensors = dict(graph.tensors)
    for name in (*graph.inputs, *graph.outputs):
        if tensors[name].dtype in STORED and tensors[name].quantization is None:
            tensors[name] = replace(tensors[name], quantization=_meaning(graph, neighbours, name))
    return replace(graph, tensors=tensors)


def as_declared(graph: Graph, quantization: Mapping[str, Quantization]) -> Graph:
    """The graph, its quantised inputs and outputs with what the file itself says of them, where it does."""
    tensors = dict(graph.tensors)
    for name in (*graph.inputs, *graph.outputs):
        if name in quantization and tensors[name].dtype in STORED:
            tensors[name] = replace(tensors[name], quantization=quantization[name])
    return replace(graph, tensors=tensors)


def quantization_of(graph: Graph, node: Node) -> Quantization | None:
    """The numbers of a QuantizeLinear or DequantizeLinear, where they are known and hold for the whole tensor."""
    scale = graph.constants.get(node.inputs[1])
    has_zero = len(node.inputs) > 2 and node.inputs[2] != ""
    zero = graph.constants.get(node.inputs[2]) if has_zero else None
    if scale is None or scale.size != 1 or (has_zero and (zero is None or zero.size != 1)):
        return None
    return Quantization(scale=(float(scale.item()),), zero_point=(0 if zero is None else int(zero.item()),))


def _neighbours(graph: Graph) -> dict[str, list[Node]]:
    """The nodes that write or read each value as their data; parameters of nodes do not count."""
    neighbours: dict[str, list[Node]] = {name: [] for name in graph.tensors}
    for node in graph.nodes:
        if node.op in AFFINE or node.op in _KEEPING:
            for name in (node.inputs[0], node.outputs[0]):
                neighbours[name].append(node)
    return neighbours


def _meaning(graph: Graph, neighbours: dict[str, list[Node]], name: str) -> Quantization | None:
    """What all nodes that quantise or dequantise this value, moved or not, agree on."""
    meanings: set[Quantization | None] = set()
    waiting, seen = [name], {name}
    while waiting:
        value = waiting.pop()
        for node in neighbours[value]:
            stored = node.outputs[0] if node.op == "QuantizeLinear" else node.inputs[0]
            if node.op in AFFINE and stored == value:
                meanings.add(quantization_of(graph, node))
            if node.op in _KEEPING:
                new = {node.inputs[0], node.outputs[0]} - seen
                waiting.extend(sorted(new))
                seen |= new
    return meanings.pop() if len(meanings) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crossing:
    """How an input or output becomes integer. `removed` nodes go, `retyped` values are stored instead of real."""

    name: str
    dtype: DType
    quantization: Quantization
    removed: tuple[Node, ...]
    retyped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """A graph with its writers and readers, worked out once."""

    graph: Graph
    producer: Mapping[str, Node] = field(repr=False)
    consumers: Mapping[str, list[Node]] = field(repr=False)


def with_integer_border(graph: Graph, wanted: Mapping[str, DType]) -> Graph:
    """The graph whose inputs and outputs in `wanted` have these types, under the names they had.

    TilewrightError TW1120 (exit 2) lists every one for which that is not possible, and why.
    """
    view = _View(graph=graph, producer=graph.producer(), consumers=graph.consumers())
    types = {name: dtype for name, dtype in wanted.items() if graph.tensors[name].dtype is not dtype}
    if not types:
        return graph
    crossings = _crossings(view, types)
    reasons = {name: _mismatch(graph, name, crossings[name], dtype) for name, dtype in types.items()}
    refused = {name: reason for name, reason in reasons.items() if reason}
    if refused:
        raise _cannot(refused, view)
    return _crossed(graph, [crossing for crossing in crossings.values() if isinstance(crossing, _Crossing)])


def _crossings(view: _View, names: Iterable[str]) -> dict[str, _Crossing | str]:
    """How each input or output becomes integer, or why it cannot, together with those before it."""
    crossings: dict[str, _Crossing | str] = {}
    owners: dict[str, str] = {}  # stored value -> the input or output that it becomes
    for name in names:
        crossing = _crossing(view, name)
        stored = [_stored_by(node) for node in crossing.removed] if isinstance(crossing, _Crossing) else []
        taken = [owners[value] for value in stored if value in owners]
        crossings[name] = f"its integers are those of {show(taken[0])} already" if taken else crossing
        owners = {**dict.fromkeys(stored, name), **owners}
    return crossings


def _crossing(view: _View, name: str) -> _Crossing | str:
    """How this input or output becomes integer, or why it cannot."""
    dtype = view.graph.tensors[name].dtype
    if dtype is not DType.F32:
        return f"it is {dtype.value} in the model, and no float that could be quantised"
    return _of_input(view, name) if name in view.graph.inputs else _of_output(view, name)


def _of_input(view: _View, name: str) -> _Crossing | str:
    quantisers: list[Node] = []
    values = [name]
    for value in values:  # grows
        for node in view.consumers[value]:
            if node.op == "QuantizeLinear" and node.inputs[0] == value:
                quantisers.append(node)
            elif node.op in _MOVING and node.outputs[0] not in view.graph.outputs:
                values.append(node.outputs[0])
            else:
                return f"node {show(node.name)} ({node.op}) reads it as float"
    if not quantisers:
        return "nothing reads it"
    kept = [node.outputs[0] for node in quantisers if node.outputs[0] in view.graph.outputs]
    if kept:
        return f"nothing would be left between it and output {show(kept[0])}"
    return _agreed(view.graph, name, quantisers, values)


def _agreed(graph: Graph, name: str, quantisers: list[Node], values: list[str]) -> _Crossing | str:
    forms = {(quantization_of(graph, node), graph.tensors[node.outputs[0]].dtype) for node in quantisers}
    quantization, dtype = next(iter(forms))
    if len(forms) > 1:
        return f"nodes {show(quantisers[0].name)} and others quantise it differently"
    if quantization is None:
        return f"node {show(quantisers[0].name)} quantises it with numbers for each channel, or computed ones"
    return _Crossing(
        name=name, dtype=dtype, quantization=quantization, removed=tuple(quantisers), retyped=tuple(values)
    )


def _of_output(view: _View, name: str) -> _Crossing | str:
    values = [name]
    while (node := view.producer[values[-1]]).op in _MOVING:
        values.append(node.inputs[0])
        if values[-1] not in view.producer:
            return f"it is input {show(values[-1])}, moved"
    if node.op != "DequantizeLinear":
        return f"node {show(node.name)} ({node.op}) computes it as float"
    consumers = (consumer for value in values for consumer in view.consumers[value])
    readers = [consumer for consumer in consumers if set(values).isdisjoint(consumer.outputs)]
    if readers or any(value in view.graph.outputs for value in values[1:]):
        reader = f"node {show(readers[0].name)} ({readers[0].op})" if readers else "another output"
        return f"{reader} needs it as float, too"
    stored, quantization = node.inputs[0], quantization_of(view.graph, node)
    if quantization is None:
        return f"node {show(node.name)} dequantises it with numbers for each channel, or computed ones"
    if stored not in view.producer or stored in view.graph.outputs:
        return f"nothing would be left between it and {show(stored)}"
    dtype = view.graph.tensors[stored].dtype
    return _Crossing(name=name, dtype=dtype, quantization=quantization, removed=(node,), retyped=tuple(values))


def _mismatch(graph: Graph, name: str, crossing: _Crossing | str, wanted: DType) -> str:
    """Why this input or output cannot be of the type that is wanted; "" where it can."""
    kind = "input" if name in graph.inputs else "output"
    if isinstance(crossing, str):
        return f"{kind} {show(name)}: {crossing}"
    if crossing.dtype is wanted:
        return ""
    return f"{kind} {show(name)}: the model quantises it to {_c_name(crossing.dtype)}"


def _crossed(graph: Graph, crossings: Iterable[_Crossing]) -> Graph:
    tensors = dict(graph.tensors)
    renames: dict[str, str] = {}
    removed: set[str] = set()
    for crossing in crossings:
        for value in crossing.retyped:
            quantization = crossing.quantization if value == crossing.name else None
            tensors[value] = replace(tensors[value], dtype=crossing.dtype, quantization=quantization)
        for node in crossing.removed:
            removed.add(node.name)
            renames[_stored_by(node)] = node.inputs[0] if node.op == "QuantizeLinear" else node.outputs[0]
    nodes = tuple(renamed(node, renames) for node in graph.nodes if node.name not in removed)
    return graph.with_nodes(nodes, tensors=tensors).verify()


def _stored_by(node: Node) -> str:
    """The integers of a QuantizeLinear or DequantizeLinear."""
    return node.outputs[0] if node.op == "QuantizeLinear" else node.inputs[0]


def _cannot(reasons: Mapping[str, str], view: _View) -> TilewrightError:
    """TW1120 with the reasons, and the flags for every input and output that can be an integer."""
    crossings = _crossings(view, (*view.graph.inputs, *view.graph.outputs)).items()
    types = {name: crossing.dtype for name, crossing in crossings if isinstance(crossing, _Crossing)}
    possible = {name: dtype for name, dtype in types.items() if dtype in STORED}
    flags = " ".join(f"--io-type {shlex.quote(f'{name}={_c_name(dtype)}')}" for name, dtype in possible.items())
    return usage_error(
        "TW1120",
        f"{len(reasons)} of the model's inputs and outputs cannot be of the type that --io-type asks for",
        where=next(iter(reasons)),
        details=tuple(reasons.values()),
        fix=(flags,) if flags else ("leave --io-type out: nothing at the border of this model is quantised",),
    )


def _c_name(dtype: DType) -> str:
    return dtype.c_type.removesuffix("_t")
