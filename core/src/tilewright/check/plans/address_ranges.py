"""Knows where the bytes of a plan's buffers are, spans of regions, which are the arrays that the program will have,
and which buffers are alive at a step. Does not know what the bytes hold, nor whether a span is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilewright.ir.plans.stages import Allocated, Buffer, Placement

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
    found: dict[int, list[Buffer]] = {}
    for buffer in buffers:
        if buffer.kind in kinds:
            for index in range(buffer.first, buffer.last + 1):
                found.setdefault(index, []).append(buffer)
    return found


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
