"""Knows the buffers of a region that is computed row by row: what is held, sums, scratch, counters; and what it costs.
Does not know how the region was found.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.plans.region import LineBuffers, Region
from tilewright.ir.plans.stages import Buffer, BufferKind
from tilewright.tile.cost.footprint import SUMS, tile_buffer_name
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.line_buffers.call_schedule import trace
from tilewright.tile.line_buffers.segments import COUNTER_BYTES, simulated_cycles
from tilewright.tile.line_buffers.stripes import with_stripes

COUNTERS = "rows"  # the operand of the last step that has the counters of all
EDGES = "edges"  # the operand that has the columns which pass from one stripe to the next


def buffered_steps_of(steps: LineBufferAnalysis, region: Region) -> tuple[BufferedStep, ...]:
    """The steps of a region by rows. ValueError where it says more or other of them than they are."""
    rows, numbers, platform = region.line_buffers, steps.machine.numbers, steps.machine.platform
    if platform.inner or any(engine.cores > 1 for engine in platform.engines):
        raise ValueError(f"region '{region.name}' is computed by rows, which takes one memory and one core")
    result = tuple(steps.at(numbers[name]) for name in region.steps)
    if rows is None or [step.loop for step in result] != list(rows.loops) or any(step.cannot for step in result):
        raise ValueError(f"region '{region.name}' is not computed by rows along these loops")
    return with_stripes(steps, result, rows.stripes)


def line_buffers_of(steps: LineBufferAnalysis, region: Region, rows: LineBuffers) -> Iterator[Buffer]:
    """Alive where the last step stands."""
    machine, at = steps.machine, steps.machine.numbers[region.name]
    members = buffered_steps_of(steps, region)
    home, align = machine.platform.backing_memory().name, machine.platform.buffer_align

    def buffer(name: str, kind: BufferKind, size_bytes: int, align: int) -> Buffer:
        return Buffer(name=name, kind=kind, size_bytes=size_bytes, align=align, first=at, last=at, memories=(home,))

    for member in members[:-1]:
        kept = rows.buffers.get(member.output.value)
        if kept is not None:
            memory = region.internal_values[member.output.value].memory
            name = tile_buffer_name(member.step.name, member.output.name, memory, 0)
            yield buffer(name, "tile", kept.rows * member.row_bytes, max(align, member.output.item_bytes))
    for member in members:
        if member.sums is not None:
            name = tile_buffer_name(member.step.name, SUMS, home, 0)
            yield buffer(name, "tile", member.sums_bytes, max(align, member.sums.dtype.size_bytes))
        if member.edges_bytes:
            name = tile_buffer_name(member.step.name, EDGES, home, 0)
            yield buffer(name, "tile", member.edges_bytes, max(align, member.output.item_bytes))
    yield buffer(counters_name(region, home), "tile", COUNTER_BYTES * len(members), max(align, COUNTER_BYTES))
    scratch = max(steps.calls.scratch_bytes(member, trips) for member, trips in zip(members, rows.extents, strict=True))
    if scratch:
        yield buffer(f"{region.name}.scratch", "scratch", scratch, max(align, 8))


def counters_name(region: Region, memory: str) -> str:
    """The buffer of how far each step has come."""
    return tile_buffer_name(region.name, COUNTERS, memory, 0)


def line_buffered_cycles(steps: LineBufferAnalysis, region: Region, rows: LineBuffers) -> float:
    """What all calls of a region take, and moving its rows; an estimate."""
    return simulated_cycles(steps, trace(buffered_steps_of(steps, region), rows.extents, rows.calls))


def recomputed_macs(steps: LineBufferAnalysis, region: Region) -> float:
    """Multiply-accumulates of a region that are done once more, because it is computed in stripes."""
    return sum(map(steps.calls.again, buffered_steps_of(steps, region)))
