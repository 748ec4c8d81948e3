"""Knows what generated C calls things that a model's author named: `QCONV_02_OUT` is where step 2, a QConv, writes, and
comments have short names, which a table at the end of the file spells out.
Does not know where a buffer is, nor what is said about the nodes, tensors and constants that have these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count, takewhile

from tilewright.c_text.identifiers import comment_name, comment_text, unique_identifiers
from tilewright.ir.graphs.graph import Node
from tilewright.ir.graphs.operator import Operator, input_names
from tilewright.ir.plans.constant_copies import read_as
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import NamesInFull
from tilewright.ir.short_names import short_names
from tilewright.lower.operands.operand_bindings import scratch_name
from tilewright.tile.cost.footprint import SUMS, tile_buffer_name
from tilewright.tile.line_buffers.buffers import COUNTERS, EDGES


def shown_names(allocated: Allocated) -> dict[str, str]:
    """Name -> what comments call it: of a step, the first node that it stands for, and a buffer as in the report."""
    buffers = (buffer.name for buffer in allocated.tiled.buffers)
    return {name: comment_text(short) for name, short in short_names((*_named(allocated), *buffers)).items()}


def names_in_full(allocated: Allocated, shown: Mapping[str, str]) -> tuple[NamesInFull, ...]:
    """What every short name stands for, in the order of the steps, then the further nodes that a step stands for.

    A name that only adds to another one, and as much in comments, is not there: of `conv`, `conv.W` is known, too.
    """
    order = dict.fromkeys(_named(allocated))
    listed: dict[str, str] = {}
    for name in sorted(order, key=len):
        whole = comment_name(name)
        if shown[name] not in (whole, whole.lstrip("/"), _added(name, listed)):
            listed[name] = shown[name]
    short = (NamesInFull(of=listed[name], names=(comment_name(name),)) for name in order if name in listed)
    further = (
        NamesInFull(
            of=f"step {index}, beside {shown[node.origin[0]]}",
            names=tuple(comment_name(_added(name, shown) or name) for name in node.origin[1:]),
        )
        for index, node in enumerate(_nodes(allocated))
        if node.origin[1:]
    )
    return (*short, *further)


def _added(name: str, short: Mapping[str, str]) -> str:
    """The short form of the longest name that this one adds to, and what it adds; "" where there is none."""
    ends = (name[:at] for at in range(len(name), 0, -1))
    known = next((end for end in ends if end in short), "")
    return short[known] + name[len(known) :] if known else ""


def _nodes(allocated: Allocated) -> Iterator[Node]:
    """The node that each step is named after, in order."""
    scheduled = allocated.tiled.scheduled
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    return (nodes[step.name] for step in scheduled.steps)


def _named(allocated: Allocated) -> Iterator[str]:
    """Steps, the first node of each, and what they read and write."""
    scheduled = allocated.tiled.scheduled
    for node in _nodes(allocated):
        yield from (node.name, *node.origin[:1])
        yield from (value for value in (*node.inputs, *node.outputs) if value in scheduled.storage)
        yield from scheduled.bound.bindings[node.name].constants.values()


def offset_names(allocated: Allocated, operators: Mapping[str, Operator], prefix: str) -> dict[str, str]:
    """Buffer in a memory -> enumerator. A buffer is called after the first step that writes, or else reads it.

    No name begins like the macros of the header, which `prefix` begins.
    """
    texts_by_buffer: dict[str, str] = {}
    memories = allocated.tiled.scheduled.bound.platform.memories
    apart = {memory.name for memory in memories if memory.managed_by == "application"}  # each buffer at its own start
    placed = {name for name, place in allocated.placements.items() if place.memory not in apart}
    others = ((name, f"buffer {name}") for name in allocated.placements)
    for buffer, text in (*_border(allocated), *_of_steps(allocated, operators), *others):
        if buffer in placed:
            texts_by_buffer.setdefault(buffer, text)
    texts = dict(texts_by_buffer)
    if len(set(texts.values())) < len(texts):  # a buffer has the name of another one's role
        texts = {buffer: f"{text} {buffer}" for buffer, text in texts_by_buffer.items()}
    names = unique_identifiers(texts.values())
    if any(name.lower().startswith(f"{prefix.lower()}_") for name in names.values()):
        texts = {buffer: f"at {text}" for buffer, text in texts.items()}
        names = unique_identifiers(texts.values())
    return {buffer: names[text].upper() for buffer, text in texts.items()}


def _border(allocated: Allocated) -> Iterator[tuple[str, str]]:
    scheduled = allocated.tiled.scheduled
    for value in scheduled.bound.graph.inputs:
        if value in scheduled.storage:
            yield scheduled.storage[value].buffer, f"in {value}"


def _of_steps(allocated: Allocated, operators: Mapping[str, Operator]) -> Iterator[tuple[str, str]]:
    scheduled = allocated.tiled.scheduled
    bound, digits = scheduled.bound, len(str(len(scheduled.steps) - 1))
    nodes = {node.name: node for node in bound.graph.nodes}
    memories = {name: _memories(region) for region in allocated.tiled.regions for name in region.steps}
    for index, step in enumerate(scheduled.steps):
        node = nodes[step.name]
        layer = f"{node.op} {index:0{digits}d}"
        operator, constants = operators[node.op], bound.bindings[step.name].constants
        for at, (operand, value) in enumerate(zip(operator.outputs, node.outputs, strict=False)):
            if value in scheduled.storage:
                yield scheduled.storage[value].buffer, f"{layer} out {operand if at else ''}".strip()
        for operand, constant in constants.items():
            yield constant, f"{layer} {operand}"
            yield read_as(constant, allocated.decisions, step.name), f"{layer} {operand} copy"
        yield scratch_name(step), f"{layer} scratch"
        operands = (*input_names(operator, bound.site(node)), *constants, *operator.outputs, SUMS, COUNTERS, EDGES)
        for memory in memories[step.name]:
            for operand in dict.fromkeys(operands):
                yield from _tiles(allocated, step.name, operand, memory, layer)


def _memories(region: Region) -> tuple[str, ...]:
    """Those in which a region has buffers of its own."""
    return tuple(
        dict.fromkeys(
            (
                *(hop.inner for hop in region.hops),
                *(internal_value.memory for internal_value in region.internal_values.values()),
            )
        )
    )


def _tiles(allocated: Allocated, step: str, operand: str, memory: str, layer: str) -> Iterator[tuple[str, str]]:
    names = (tile_buffer_name(step, operand, memory, number) for number in count())
    for at, name in enumerate(takewhile(allocated.placements.__contains__, names)):
        yield name, f"{layer} {operand} {memory} {at}"
