"""Knows what several steps tiled together cost and need at least, whatever the tiles are that are looked for.
Does not know any tiling of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, inf, prod

from tilewright.ir.access.index import Index, mentions
from tilewright.ir.access.index_map import Box, MapAccess, Window
from tilewright.ir.rounding import align_up
from tilewright.tile.cost.copy_queues import queues_of
from tilewright.tile.cost.job_overlap import may_overlap
from tilewright.tile.cost.kernel_costs import least_cycles
from tilewright.tile.cost.lower_bounds import ROUNDED, cycles_each_byte
from tilewright.tile.space.fusion import InnerReader, RegionAnalysis, RegionStep
from tilewright.tile.space.tiling_space import CopiedOperand, cuttable, touched_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCost:
    """What no tiling goes below: in time, and in bytes over all hops."""

    cycles: float
    moved_bytes: int


def least_cost(analysis: RegionAnalysis) -> LeastCost:
    """What is needed computed once, the cores busy from when all is there that no tile has a part of, an engine beside
    them where its jobs may overlap with that; or copied once, and nobody waited for. What tiles may leave gaps in is
    not counted.
    """
    begin, computing, job, copying, moved = 0.0, 0.0, 0.0, 0.0, 0
    moving, overlap = moving_loops(analysis), may_overlap(analysis)
    queues = queues_of(item for member in analysis.members for item in member.space.copied)
    for member, loops, box in zip(analysis.members, moving, _needed(analysis, moving), strict=True):
        space = member.space
        begin += space.engine.step_cycles + space.kernel.step_cycles
        if box is None:
            continue
        extents = {loop: high - low for loop, (low, high) in box.items()}
        own = _computing(member, extents) + space.engine.call_cycles
        job, computing = (own, computing) if overlap and member is analysis.members[0] else (job, computing + own)
        for item in space.copied:
            if not _without_gaps(member, item.name, loops):
                continue
            size = touched_bytes(space.access, item.name, item.item_bytes, box)
            copying, moved = copying + size * cycles_each_byte(item.path), moved + size
            if loops.isdisjoint(item.loops):
                computing += _whole_cycles(member, item) / queues
    for hop in range(len(analysis.hops) - 1):  # where each value crosses once
        crossing = analysis.crossing(hop)
        moved += sum(touched_bytes(member.access, item.name, item.item_bytes) for member, item in crossing)
    return LeastCost(cycles=(begin + max(computing, job, copying / queues)) * ROUNDED, moved_bytes=moved)


def _computing(member: RegionStep, extents: Mapping[str, int]) -> float:
    """`least_cycles` of so many trips."""
    known, trips = member.calls.least, tuple(extents.values())
    if trips not in known:
        known[trips] = least_cycles(member.space, extents)
    return known[trips]


def cut_loops(analysis: RegionAnalysis) -> list[str]:
    """Loops of the sink that may be cut and reach a step before it."""
    sink = analysis.sink
    cuts = {loop.name for loop in sink.space.cuts}
    read = [axis.index for operand in sink.inside for axis in sink.index_map.axes[operand]]
    ordered = [sink.loops[axis] for axis in sink.output.layout]
    return [loop for loop in ordered if loop in cuts and any(mentions(index, loop) for index in read)]


def split_loops(analysis: RegionAnalysis) -> list[str]:
    """Reductions of the sink that may be cut and reach a step before it."""
    sink = analysis.sink
    if sink.sums is None:
        return []
    allowed, _ = cuttable(sink.access, sink.space.kernel, sink.sums)
    read = [axis.index for operand in sink.inside for axis in sink.index_map.axes[operand]]
    reductions = [loop.name for loop in allowed if loop.kind == "reduce"]
    return [loop for loop in reductions if any(mentions(index, loop) for index in read)]


def moving_loops(analysis: RegionAnalysis, *, split: bool = True) -> list[set[str]]:
    """For each member its loops that are in parts where those of `cut_loops` are, and, with `split`, `split_loops`."""
    moving = [set[str]() for _ in analysis.members]
    moving[-1].update((*cut_loops(analysis), *(split_loops(analysis) if split else ())))
    for number, member in reversed(tuple(enumerate(analysis.members))):
        for reader in member.readers:
            names = analysis.members[reader.member].moves[reader.operand]
            moving[number].update(
                loop
                for loop, of_reader in zip(member.loops, names, strict=True)
                if loop and not moving[reader.member].isdisjoint(of_reader)
            )
    return moving


def _needed(analysis: RegionAnalysis, moving: Sequence[set[str]]) -> list[Box | None]:
    """For each member the trips that all tiles together compute; None where they may leave some out in between."""
    boxes: list[Box | None] = [None] * len(analysis.members)
    for number, member in reversed(tuple(enumerate(analysis.members))):
        whole = {loop.name: (0, loop.extent) for loop in member.access.loops}
        windows = [_window(analysis, reader, boxes, moving) for reader in member.readers]
        result = [window for window in windows if window is not None]
        if len(result) == len(windows):
            hull = [(min(box.low for box in axis), max(box.high for box in axis)) for axis in zip(*result, strict=True)]
            boxes[number] = whole | {loop: reach for loop, reach in zip(member.loops, hull, strict=False) if loop}
    return boxes


def _window(
    analysis: RegionAnalysis, reader: InnerReader, boxes: Sequence[Box | None], moving: Sequence[set[str]]
) -> Window | None:
    """What a step reads of an inner value in all tiles."""
    member, box = analysis.members[reader.member], boxes[reader.member]
    if box is None or not _without_gaps(member, reader.operand, moving[reader.member]):
        return None
    return member.access.window(reader.operand, box)


def _without_gaps(member: RegionStep, operand: str, moving: set[str]) -> bool:
    """Whether the windows of neighbouring trips touch each other, along all loops that move."""
    if not isinstance(member.access, MapAccess):
        return True
    known, question = member.calls.gapless, (operand, frozenset(moving))
    if question not in known:
        known[question] = _touch_each_other(member.access, operand, moving)
    return known[question]


def _touch_each_other(access: MapAccess, operand: str, moving: set[str]) -> bool:
    box = {loop.name: (0, loop.extent) for loop in access.loops}
    indices = [axis.index for axis in access.axes[operand] if axis.index is not None]
    return all(_touching(index, box, moving) for index in indices)


def _touching(index: Index, box: Box, moving: set[str]) -> bool:
    parts = [Index((term,)) for term in index.terms]
    widths = [high - low for low, high in (part.range(box) for part in parts)]
    reach = 1 + sum(widths)
    return all(min(_jump(part, moving), width) <= reach - width for part, width in zip(parts, widths, strict=True))


def _jump(index: Index, moving: set[str]) -> float:
    """How far one trip of a loop moves an index, at most."""
    jumps = [0.0]
    for term in index.terms:
        jump = float(term.loop in moving) if term.inner is None else _jump(term.inner, moving)
        if term.operation == "//":
            jump = ceil(jump / term.by[0])
        if term.operation == "%" and jump:
            jump = inf
        jumps.append(abs(term.coefficient) * jump)
    return max(jumps)


def least_bytes(analysis: RegionAnalysis, *, split: bool = False) -> int:
    """Bytes that no tile gets by without: whatever moves counts for a single trip of its loops. Sums do not count.

    `split`: where reductions of the sink may be cut.
    """
    total, inner = 0, [0] * len(analysis.members)  # of the buffers of inner values
    for member, moving in zip(analysis.members, moving_loops(analysis, split=split), strict=True):
        box = {loop.name: (0, 1 if loop.name in moving else loop.extent) for loop in member.access.loops}
        for operand, maker in member.inside.items():
            size = _window_bytes(member, operand, box, analysis.members[maker].output.item_bytes)
            inner[maker] = max(inner[maker], size)
        sizes = (_window_bytes(member, item.name, box, item.item_bytes) for item in member.space.copied)
        total += sum(align_up(size, analysis.grains[-1]) for size in sizes)
    return total + sum(inner)


def _window_bytes(member: RegionStep, operand: str, box: Box, item_bytes: int) -> int:
    """Of an operand's window."""
    return item_bytes * prod(_extents(member, operand, box))


def _whole_cycles(member: RegionStep, item: CopiedOperand) -> float:
    """What it takes to copy an operand in one piece."""
    extents = tuple(_extents(member, item.name, {loop.name: (0, loop.extent) for loop in member.access.loops}))
    return item.transfers(extents, extents).cycles(item.path)


def _extents(member: RegionStep, operand: str, box: Box) -> Iterator[int]:
    return (span.extent for span in member.access.window(operand, box))
