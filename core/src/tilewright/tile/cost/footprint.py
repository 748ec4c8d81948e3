"""Knows which buffers a region needs in the scratchpads of its hops: names, sizes, and what they take together.
Does not know lifetimes, nor how the tiling was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from tilewright.ir.plans.region import SplitReduction
from tilewright.ir.plans.stages import BufferKind
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.kernel_costs import scratch_bytes
from tilewright.tile.cost.tile_boxes import Boxes, largest_extents

if TYPE_CHECKING:
    from tilewright.tile.cost.tile_boxes import Reach
    from tilewright.tile.cost.traffic import Crossing

SUMS = "acc"  # the operand that has the sums of a split reduction


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadBuffer:
    """Bytes that a region needs in a scratchpad as long as it runs."""

    name: str
    kind: BufferKind
    size_bytes: int
    align: int = 1  # that its kernel wants


def tile_buffer_name(step: str, operand: str, memory: str, number: int) -> str:
    """The name that everybody finds a tile buffer by."""
    return f"{step}.{operand}@{memory}#{number}"


def scratchpad_buffers(
    boxes: Boxes,
    crossings: Sequence[Sequence[Crossing]],
    sums: Mapping[str, SplitReduction],
    hop: int,
) -> Iterator[ScratchpadBuffer]:
    """Tile buffers of what is copied over a hop, and on the last of what is held, of sums, and scratch."""
    near = boxes.hops[hop].inner
    for crossing in crossings[hop]:
        for number in range(crossing.copy.buffers if crossing.own else 0):
            name = tile_buffer_name(crossing.member.step.name, crossing.item.name, near, number)
            wanted = crossing.member.space.kernel.align.get(crossing.item.name, 1)
            yield ScratchpadBuffer(name=name, kind="tile", size_bytes=crossing.tile_bytes, align=wanted)
    if hop + 1 < len(boxes.hops):
        return
    for number, member in enumerate(boxes.analysis.members[:-1]):
        name = tile_buffer_name(member.step.name, member.output.name, near, 0)
        yield ScratchpadBuffer(
            name=name, kind="tile", size_bytes=member.output.item_bytes * prod(boxes.internal_rows(number))
        )
    sink = boxes.analysis.sink
    own = sums.get(sink.step.name)
    if own is not None and not own.in_output:
        elements = prod(boxes.capacity(len(boxes.analysis.members) - 1, sink.output.name, len(boxes.extents)))
        name = tile_buffer_name(sink.step.name, SUMS, near, 0)
        yield ScratchpadBuffer(name=name, kind="tile", size_bytes=own.dtype.size_bytes * elements)
    scratch = region_scratch(boxes)
    if scratch:
        wanted = sink.space.kernel.align.get("scratch", 1)
        yield ScratchpadBuffer(name=f"{sink.step.name}.scratch", kind="scratch", size_bytes=scratch, align=wanted)


def scratchpad_bytes(
    boxes: Boxes,
    crossings: Sequence[Sequence[Crossing]],
    sums: Mapping[str, SplitReduction],
    hop: int,
) -> int:
    """What all of them take, each up to where the next may begin."""
    grain = boxes.analysis.grains[hop]
    return sum(align_up(buffer.size_bytes, grain) for buffer in scratchpad_buffers(boxes, crossings, sums, hop))


def region_scratch(boxes: Boxes) -> int:
    """As much as the neediest member takes."""
    return max(member_scratch(boxes, number) for number in range(len(boxes.analysis.members)))


def member_scratch(boxes: Boxes, number: int) -> int:
    """What one member takes, all cores together."""
    member = boxes.analysis.members[number]
    space, most = member.space, largest_run(boxes, number)
    fewer = tuple(loop for loop, reach in boxes.runs[number].items() if _differs(reach))
    key = tuple(most.values()), fewer
    if key not in member.calls.scratch:
        _, size = scratch_bytes(space.kernel, space.site, space.access, most, space.engine.cores, fewer)
        member.calls.scratch[key] = size
    return member.calls.scratch[key]


def _differs(reach: Reach) -> bool:
    """Whether some tiles have fewer trips than others."""
    trips = reach[1] - reach[0]
    return trips.size > 1 and int(trips.min()) < int(trips.max())


def largest_run(boxes: Boxes, number: int) -> dict[str, int]:
    """The most trips of every loop of a member in any tile."""
    return {loop: largest_extents(reach) for loop, reach in boxes.runs[number].items()}
