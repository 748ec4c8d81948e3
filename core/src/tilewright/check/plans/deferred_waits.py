"""Knows whether what runs beside the job of an engine leaves that alone: steps between its start and the wait for it.
Does not know who decided that, and works conflicts out from places in memory, byte by byte.

That values are there when they are read, `dataflow` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilewright.check.plans.placement import ByteSpan, byte_span_of
from tilewright.ir.plans.stages import Allocated, Buffer


def deferred_faults(allocated: Allocated) -> Iterator[str]:
    """What is wrong with steps whose engine is waited for behind a later step."""
    tiled = allocated.tiled
    steps, numbers = tiled.scheduled.steps, {step.name: at for at, step in enumerate(tiled.scheduled.steps)}
    regions = {name: region for region in tiled.regions for name in region.steps}
    for name, behind in tiled.scheduled.deferred.items():
        binding = tiled.scheduled.bound.bindings[name]
        if not binding.kernel.wait:
            yield f"step '{name}' is waited for behind '{behind}', and starts no job"
        if regions[name].steps != (name,) or (regions[behind].together and regions[behind].name != behind):
            yield f"step '{name}' is waited for behind '{behind}', in the middle of a group"
        beside = range(numbers[name] + 1, numbers[behind] + 1)
        if not beside:
            yield f"step '{name}' is waited for behind '{behind}', which is no later step"
        owned = tuple(_owned(allocated, name, numbers[name]))
        for buffer in owned:
            if buffer.last < numbers[behind] or buffer.first > numbers[name]:
                yield f"buffer '{buffer.name}' of step '{name}' is gone before its engine is waited for"
        for number in beside:
            if tiled.scheduled.bound.bindings[steps[number].name].engine == binding.engine:
                yield f"step '{steps[number].name}' runs on the engine that computes '{name}'"
            yield from _touching(allocated, name, steps[number].name, owned)


def _owned(allocated: Allocated, name: str, number: int) -> Iterator[Buffer]:
    """Tiles, scratch and copies of constants that a step alone uses."""
    shared = {"tile", "scratch", "staged"}
    for buffer in allocated.tiled.buffers:
        if buffer.kind in shared and buffer.first == number:
            yield buffer


def _touching(allocated: Allocated, name: str, other: str, owned: tuple[Buffer, ...]) -> Iterator[str]:
    """Bytes of a job that a step beside it touches, where values are."""
    mine, theirs = _spans(allocated, name), _spans(allocated, other)
    private = [byte_span_of(buffer, allocated) for buffer in owned]
    for value, span, written in theirs:
        for kept, own, output in mine:
            if (written or output) and span.overlaps(own):
                yield f"step '{other}' touches '{value}', while '{name}' computes with '{kept}' in the same bytes"
        if any(span.overlaps(own) for own in private):
            yield f"step '{other}' touches '{value}', in bytes of tiles or scratch of '{name}'"


def _spans(allocated: Allocated, name: str) -> list[tuple[str, ByteSpan, bool]]:
    """Values of a step, where they are, and whether they are written."""
    scheduled = allocated.tiled.scheduled
    buffers = {buffer.name: buffer for buffer in allocated.tiled.buffers}
    (node,) = [node for node in scheduled.bound.graph.nodes if node.name == name]
    spans = []
    for written, values in ((False, node.inputs), (True, node.outputs)):
        for value in values:
            place = scheduled.storage.get(value)
            if place is not None and place.buffer in buffers:
                whole = byte_span_of(buffers[place.buffer], allocated)
                low = whole.low + place.offset_bytes
                high = low + scheduled.bound.graph.tensors[value].size_bytes
                spans.append((value, replace(whole, low=low, high=high), written))
    return spans
