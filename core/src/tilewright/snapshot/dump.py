"""Knows how a stage's value is shown: text for people, and JSON with everything in it. The same value, the same text.
Does not know how it was made, nor any terminal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from tilewright.ir.codec import Json
from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import InternalValue, LineBuffers, Region, RepeatedCalls, Stripes
from tilewright.ir.plans.stages import Allocated, Bound, Buffer, Scheduled, Tiled
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.stored_form import StoredValue
from tilewright.snapshot.saved_stage import SavedStage, plain_codec, stage_name

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_MOST_ITEMS = 8  # of a list, before it is cut short in text


def dump_json(value: SavedStage) -> str:
    """Everything, the stages before it included; keys sorted, arrays as type, shape and digest."""
    codec = plain_codec(_summary)
    document = {"stage": stage_name(value), "value": codec.encode(value, type(value))}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def dump_text(value: SavedStage) -> str:
    """What this stage added: one line for each node, step, buffer, pool."""
    match value:
        case Graph():
            lines = _graph(value)
        case Bound():
            lines = _bound(value)
        case Scheduled():
            lines = _scheduled(value)
        case Tiled():
            lines = _tiled(value)
        case Allocated():
            lines = _allocated(value)
        case Decisions():
            lines = _decisions(value)
    return "\n".join((f"# {stage_name(value)}", *lines)) + "\n"


def _summary(array: Array) -> Json:
    return {
        "dtype": array.dtype.name,
        "shape": list(array.shape),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
    }


def _graph(graph: Graph) -> Iterator[str]:
    size = sum(array.nbytes for array in graph.constants.values())
    yield f"graph {graph.name}: {len(graph.nodes)} nodes, {len(graph.constants)} constants of {size:,} B"
    yield from (f"input   {_typed(graph.tensors[name])}" for name in graph.inputs)
    yield from (f"output  {_typed(graph.tensors[name])}" for name in graph.outputs)
    yield from (f"const   {_typed(graph.tensors[name])}" for name in graph.constants)
    for node in graph.nodes:
        yield f"node    {_application(node, graph)}"
        if node.attributes:
            yield "        " + ", ".join(f"{name}={_attribute(item)}" for name, item in node.attributes.items())
        if node.origin:
            yield f"        onnx {', '.join(node.origin)}"


def _application(node: Node, graph: Graph) -> str:
    inputs = ", ".join(name or "-" for name in node.inputs)
    outputs = ", ".join(_typed(graph.tensors[name]) for name in node.outputs)
    return f"{node.name}: {node.op}({inputs}) -> {outputs}"


def _typed(tensor: Tensor, layout: Layout | None = None) -> str:
    order = "" if layout is None or layout == row_major(len(layout)) else f" stored {_list(layout)}"
    return f"{tensor.name} {tensor.dtype.value}[{','.join(map(str, tensor.shape))}]{order}"


def _attribute(value: Attribute) -> str:
    if isinstance(value, Requant):
        scale = f"{len(value.scale)} scales" if len(value.scale) > 1 else f"{value.scale[0]!r}"
        return f"requant({scale}, zero_point {value.zero_point}, {value.low}..{value.high})"
    if isinstance(value, StoredValue):
        return f"{value.stored} of {_list(value.shape)}"
    return _list(value) if isinstance(value, tuple) else repr(value)


def _list(items: Iterable[object]) -> str:
    values = list(items)
    shown = ",".join(str(item) for item in values[:_MOST_ITEMS])
    return f"[{shown}{f',... {len(values)} in all' if len(values) > _MOST_ITEMS else ''}]"


def _bound(bound: Bound) -> Iterator[str]:
    yield f"target {bound.platform.name}: memories {', '.join(memory.name for memory in bound.platform.memories)}"
    for node in bound.graph.nodes:
        binding = bound.bindings[node.name]
        outputs = ", ".join(_typed(bound.graph.tensors[name], bound.layouts.get(name)) for name in node.outputs)
        yield f"node    {node.name}: {node.op} by {binding.kernel.name} on {binding.engine} -> {outputs}"
        for operand, name in sorted(binding.constants.items()):
            yield f"        {operand} = constant {name}"
        for candidate in binding.candidates:
            yield f"        can     {candidate.kernel.name}, {candidate.cycles:,.0f} cycles (estimate)"
        for refusal in binding.refusals:
            yield f"        refused {refusal.candidate}: {refusal.reason}"
    for name, array in bound.constants.items():
        yield f"const   {name} {array.dtype.name}{_list(array.shape)} {array.nbytes:,} B"


def _scheduled(scheduled: Scheduled) -> Iterator[str]:
    bound = scheduled.bound
    nodes = {node.name: node for node in bound.graph.nodes}
    for index, step in enumerate(scheduled.steps):
        reads = [
            name for node in step.nodes for name in nodes[node].inputs if name and name not in bound.graph.constants
        ]
        writes = nodes[step.nodes[-1]].outputs
        ops = "+".join(nodes[node].op for node in step.nodes)
        yield f"step    {index:3} {step.name}: {ops}({', '.join(reads)}) -> {', '.join(writes)}"
    executed = {name for step in scheduled.steps for name in step.nodes}
    for node in bound.graph.nodes:
        if node.name not in executed:
            yield f"view    {_application(node, bound.graph)}"
    yield from (f"inplace {target} over {source}" for target, source in scheduled.in_place.items())
    yield from (_buffer(buffer) for buffer in scheduled.buffers)
    for value, storage in scheduled.storage.items():
        if value != storage.buffer:
            yield f"value   {value} in {storage.buffer} at {storage.offset_bytes}"


def _buffer(buffer: Buffer) -> str:
    where = f" in {'|'.join(buffer.memories)}" if buffer.memories else ""
    inside = [name for name in buffer.values if name != buffer.name]
    holds = f", holds {', '.join(inside)}" if inside else ""
    life = f"live {buffer.first}..{buffer.last}"
    return f"buffer  {buffer.name}: {buffer.kind}, {buffer.size_bytes:,} B aligned {buffer.align}, {life}{where}{holds}"


def _tiled(tiled: Tiled) -> Iterator[str]:
    for group in tiled.groups:
        yield f"group   {group.name}: {', '.join(group.steps)}; {group.cycles:,.0f} cycles (estimate)"
        yield from _region(group.region)
    yield from (_buffer(buffer) for buffer in tiled.buffers)


def _region(region: Region) -> Iterator[str]:
    for hop in region.hops:
        nest = ", ".join(f"{loop} by {extent}" for loop, extent in hop.nest) or "whole"
        yield f"        {hop.outer} -> {hop.inner}: {nest}"
        for operand, copy in sorted(hop.copies.items()):
            yield f"        {operand}: level {copy.level}, {copy.buffers} buffers, {copy.window}"
    if region.line_buffers is not None:
        extents = zip(region.steps, region.line_buffers.loops, region.line_buffers.extents, strict=True)
        yield from (f"        {step}: rows of {loop or 'nothing'} by {count}" for step, loop, count in extents)
        backward = " backward" if region.line_buffers.backward else ""
        calls = " ".join(map(_repeated, region.line_buffers.call_schedule))
        yield f"        {len(region.line_buffers.calls)} calls{backward}: {calls}"
        yield from _stripes(region, region.line_buffers.stripes)
    yield from (f"        {value} stays whole in {memory}" for value, memory in sorted(region.resident.items()))
    yield from (
        f"        {value} is internal, in {internal.memory}: {_form(internal, region.line_buffers, value)}"
        for value, internal in sorted(region.internal_values.items())
    )


def _stripes(region: Region, stripes: Stripes | None) -> Iterator[str]:
    if stripes is None:
        return
    for number, (step, loop, *bounds) in enumerate(zip(region.steps, stripes.loops, *stripes.bounds, strict=True)):
        edge = stripes.edge(number)
        kept = f", {edge} kept" if edge else ""
        columns = " ".join(f"{low}..{high}" for low, high in bounds)
        yield f"        {step}: columns of {loop} in stripes: {columns}{kept}"


def _form(internal: InternalValue, schedule: LineBuffers | None, value: str) -> str:
    buffer = schedule.buffers.get(value) if schedule else None
    if buffer is None:
        return internal.form
    if buffer.aliases:
        return f"{internal.form}, aliases {buffer.aliases} with {buffer.distance_bytes} B between"
    return f"{buffer.rows} rows"


def _repeated(part: RepeatedCalls) -> str:
    """`3x(0 1 2)`, or `0 1 2` where it is there once."""
    calls = " ".join(map(str, part.steps))
    return f"{part.times}x({calls})" if part.times > 1 else calls


def _allocated(allocated: Allocated) -> Iterator[str]:
    yield f"plan id 0x{allocated.plan_id:08x}"
    for pool in allocated.pools:
        limit = "no limit" if pool.limit_bytes is None else f"{pool.limit_bytes:,} B"
        proof = "optimal" if pool.optimal else f"lower bound {pool.lower_bound_bytes:,} B"
        yield f"pool    {pool.memory} ({pool.kind}): {pool.used_bytes:,} B of {limit}, {proof}"
    yield from _memory_map(allocated)


def _memory_map(allocated: Allocated) -> Iterator[str]:
    placed = [buffer for buffer in allocated.tiled.buffers if buffer.name in allocated.placements]
    places = allocated.placements
    order = {pool.memory: index for index, pool in enumerate(allocated.pools)}
    for buffer in sorted(placed, key=lambda b: (order[places[b.name].memory], places[b.name].offset_bytes, b.first)):
        place = places[buffer.name]
        end = place.offset_bytes + buffer.size_bytes
        span = f"{place.memory} {place.offset_bytes:>8}..{end:<8}"
        yield f"place   {span} {buffer.kind:10} {buffer.name} (live {buffer.first}..{buffer.last})"
    for buffer in allocated.tiled.buffers:
        if buffer.name not in places:
            yield f"place   caller's memory, {buffer.size_bytes:,} B {buffer.kind} {buffer.name}"


def _decisions(decisions: Decisions) -> Iterator[str]:
    for item in fields(decisions):
        value = getattr(decisions, item.name)
        if isinstance(value, Mapping):
            yield from (f"{item.name:9} {key} = {_decision(entry)}" for key, entry in sorted(value.items()))
        elif isinstance(value, tuple):
            yield from (f"{item.name:9} {_decision(entry)}" for entry in value)
        elif value:
            yield f"{item.name:9} {value}"


def _decision(value: object) -> str:
    if isinstance(value, Region):
        return "; ".join(line.strip() for line in _region(value)) or "whole"
    return _list(value) if isinstance(value, tuple) else str(value)
