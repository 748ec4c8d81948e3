"""Knows where the bytes of a plan's buffers are, and whether they may be there: memory by memory, alignment, limits,
and which buffers share bytes. Does not know steps, nor what anybody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from tilewright.ir.plans.stages import CONSTANTS_HEADER_BYTES, Allocated, Buffer, Placement
from tilewright.ir.rounding import align_up

PERSISTENT = ("constant", "state", "resident")  # kinds of buffers


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteSpan:
    """Half-open range of bytes. Memories that the plan does not lay out have one region for each buffer."""

    region: str
    low: int
    high: int

    def overlaps(self, other: ByteSpan) -> bool:
        return self.region == other.region and self.low < other.high and other.low < self.high


def alive(buffers: Iterable[Buffer], *kinds: str) -> dict[int, list[Buffer]]:
    """Step -> the buffers of these kinds that are alive then, in their order; nothing for steps that have none."""
    by_step: dict[int, list[Buffer]] = {}
    for buffer in buffers:
        if buffer.kind in kinds:
            for index in range(buffer.first, buffer.last + 1):
                by_step.setdefault(index, []).append(buffer)
    return by_step


def region(buffer: Buffer, place: Placement) -> str:
    """The array of the program that a buffer is in: what lasts is apart from the pool of its memory."""
    if buffer.kind == "state":
        return "the state"
    return f"copies in {place.memory}" if buffer.kind == "resident" else f"memory {place.memory}"


def byte_span_of(buffer: Buffer, allocated: Allocated) -> ByteSpan:
    """Where a buffer is. One in memory that the plan does not lay out has a region of its own."""
    place = allocated.placements.get(buffer.name)
    platform = allocated.tiled.scheduled.bound.platform
    if place is None or platform.memory(place.memory).managed_by == "application":
        return ByteSpan(region=f"buffer {buffer.name}", low=0, high=buffer.size_bytes)
    low = place.offset_bytes
    return ByteSpan(region=region(buffer, place), low=low, high=low + buffer.size_bytes)


def placement_faults(allocated: Allocated) -> Iterator[str]:
    """Everything that is wrong with single buffers, with the arrays of a memory, and with pairs that share bytes."""
    yield from _buffer_faults(allocated)
    yield from _crowding_faults(allocated)
    yield from _sharing_faults(allocated)


def _buffer_faults(allocated: Allocated) -> Iterator[str]:
    """Buffers one by one: memory, alignment, limit."""
    platform = allocated.tiled.scheduled.bound.platform
    memories = {memory.name: memory for memory in platform.memories}
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if place is None:
            if buffer.memories:
                yield f"buffer '{buffer.name}' has no place"
            continue
        if place.memory not in buffer.memories or place.memory not in memories:
            yield f"buffer '{buffer.name}' may not be in memory '{place.memory}'"
            continue
        memory, low, high = memories[place.memory], place.offset_bytes, place.offset_bytes + buffer.size_bytes
        if memory.managed_by == "application":
            continue
        if low < (CONSTANTS_HEADER_BYTES if memory.kind == "const" and buffer.size_bytes else 0):
            yield f"buffer '{buffer.name}' starts at {low} of memory '{memory.name}'"
        if low % buffer.align or memory.align % buffer.align:
            yield f"buffer '{buffer.name}' at {low} of memory '{memory.name}' is not aligned to {buffer.align}"
        limit = platform.hard_bytes(memory.name)
        if limit is not None and high > limit:
            yield f"buffer '{buffer.name}' ends at {high}, memory '{memory.name}' at {limit}"


def _crowding_faults(allocated: Allocated) -> Iterator[str]:
    """All arrays of a memory together are inside its limit; state is one array, in one memory."""
    platform = allocated.tiled.scheduled.bound.platform
    ends: dict[str, dict[str, int]] = {memory.name: {} for memory in platform.memories}
    for buffer in allocated.tiled.buffers:
        place = allocated.placements.get(buffer.name)
        if place is not None and place.memory in ends and platform.memory(place.memory).managed_by == "tilewright":
            arrays, name = ends[place.memory], region(buffer, place)
            arrays[name] = max(arrays.get(name, 0), place.offset_bytes + buffer.size_bytes)
    for memory in platform.memories:
        limit, sizes = platform.hard_bytes(memory.name), list(ends[memory.name].values())
        total = sum(align_up(size, memory.align) for size in sizes) - max(
            (-size % memory.align for size in sizes), default=0
        )
        if limit is not None and total > limit:
            yield f"memory '{memory.name}' has arrays of {total} B together, and {limit} B"
    if sum("the state" in arrays for arrays in ends.values()) > 1:
        yield "the state is in several memories"


def _sharing_faults(allocated: Allocated) -> Iterator[str]:
    """Constants, their copies and state keep their bytes from one run to the next: nothing else is ever there."""
    platform = allocated.tiled.scheduled.bound.platform
    ours = {memory.name for memory in platform.memories if memory.managed_by == "tilewright"}
    buffers = [
        buffer
        for buffer in allocated.tiled.buffers
        if (place := allocated.placements.get(buffer.name)) is not None and place.memory in ours
    ]
    spans = [byte_span_of(buffer, allocated) for buffer in buffers]
    lasting = {index for index, buffer in enumerate(buffers) if buffer.kind in PERSISTENT}
    pairs = (tuple(sorted(pair)) for pair in _overlapping(spans, {spans[index].region for index in lasting}))
    for lower, upper in sorted(pair for pair in pairs if not lasting.isdisjoint(pair)):
        yield f"buffers '{buffers[lower].name}' and '{buffers[upper].name}' share bytes of {spans[lower].region}"


def _overlapping(spans: Sequence[ByteSpan], regions: Set[str]) -> Iterator[tuple[int, int]]:
    """The numbers of every two spans of these regions that share bytes: from low to high, each meets what begins in it.

    Where nothing overlaps that takes no longer than sorting.
    """
    chosen = (number for number, span in enumerate(spans) if span.region in regions)
    upwards = sorted(chosen, key=lambda number: (spans[number].region, spans[number].low))
    for at, lower in enumerate(upwards):
        for upper in (upwards[later] for later in range(at + 1, len(upwards))):
            if spans[upper].region != spans[lower].region or spans[upper].low >= spans[lower].high:
                break
            if spans[lower].overlaps(spans[upper]):
                yield lower, upper
