"""Knows every buffer that regions need beside those of values: tile buffers, sums and scratch, where and how long.
Does not know their sizes (`footprint`), nor how tilings are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Buffer, Step
from tilewright.tile.cost.kernel_costs import scratch_bytes
from tilewright.tile.space.memory_path import HopMemories
from tilewright.tile.space.step_spaces import NOTHING, ScheduledMachine

if TYPE_CHECKING:
    from tilewright.tile.space.fusion import RegionAnalysis


def analysis_of_region(
    machine: ScheduledMachine, region: Region, resident: Mapping[str, str] = NOTHING
) -> RegionAnalysis:
    """The steps of a region. TilewrightError TW4042 (exit 5) where they cannot be one."""
    from tilewright.tile.space.fusion import StepAnalyses, region_analysis

    steps = machine.scheduled.steps
    first = machine.numbers[region.steps[0]]
    hops = tuple(HopMemories(outer=hop.outer, inner=hop.inner) for hop in region.hops)
    chosen = steps[first : first + len(region.steps)]
    analysis = region_analysis(machine, first, chosen, resident, analyses=StepAnalyses(machine, hops))
    if isinstance(analysis, str):
        raise not_together(chosen, analysis)
    return analysis


def not_together(steps: Sequence[Step], reason: str) -> TilewrightError:
    """TW4042 (exit 5): these steps cannot be one group, and why. Another order, or other in-place pairs, may do."""
    return TilewrightError(
        "TW4042",
        f"a group of several steps cannot be tiled together: {reason}",
        where=f"group {', '.join(repr(step.name) for step in steps)}" if steps else "",
        fix=("remove the group from the pinned decisions, or end it before that step",),
        exit_code=Exit.DOES_NOT_FIT,
    )


def first_of(names: Sequence[str], numbers: Mapping[str, int]) -> int:
    """The number of the first of some steps. TilewrightError TW4042 (exit 5) where they do not follow one another."""
    at = [numbers.get(name, -1) for name in names]
    if at[0] < 0 or at != list(range(at[0], at[0] + len(at))):
        raise not_together([], f"{', '.join(names)} are not successive steps of the schedule")
    return at[0]


def region_buffers(
    machine: ScheduledMachine, regions: Sequence[Region], resident: Mapping[str, str] = NOTHING
) -> Iterator[Buffer]:
    """Tile buffers, sums and scratch of all regions, in order: alive only where the last step stands.

    `resident` has buffers that are not where decided, and their memory.
    """
    steps: LineBufferAnalysis | None = None
    for region in regions:
        if region.hops:
            yield from _near(machine, region, resident)
            continue
        if region.line_buffers is not None:
            from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
            from tilewright.tile.line_buffers.buffers import line_buffers_of

            steps = steps or LineBufferAnalysis(machine)
            yield from line_buffers_of(steps, region, region.line_buffers)
            continue
        for name in region.steps:
            yield from _scratch(machine, machine.scheduled.steps[machine.numbers[name]])


def _near(machine: ScheduledMachine, region: Region, resident: Mapping[str, str]) -> Iterator[Buffer]:
    from tilewright.tile.cost.footprint import scratchpad_buffers
    from tilewright.tile.cost.tile_boxes import boxes_of
    from tilewright.tile.cost.traffic import traffic_of

    analysis = analysis_of_region(machine, region, resident)
    boxes = boxes_of(analysis, region.hops, region.forms)
    traffic, at = traffic_of(boxes), analysis.sink.index
    for hop in range(len(region.hops)):
        for one in scratchpad_buffers(boxes, traffic, region.sums, region.internal_values, hop):
            yield Buffer(
                name=one.name,
                kind=one.kind,
                size_bytes=one.size_bytes,
                align=analysis.grains[hop],
                first=at,
                last=at,
                memories=(region.hops[hop].inner,),
            )


def _scratch(machine: ScheduledMachine, step: Step) -> Iterator[Buffer]:
    """Of a step that is computed in one piece."""
    binding, access, at = machine.bound.bindings[step.name], machine.access(step), machine.numbers[step.name]
    extents = {loop.name: loop.extent for loop in access.loops}
    cores = machine.engine(binding.engine).cores
    _, size = scratch_bytes(binding.kernel, machine.site(step), access, extents, cores)
    if size:
        yield Buffer(
            name=f"{step.name}.scratch",
            kind="scratch",
            size_bytes=size,
            align=max(machine.platform.buffer_align, 8),
            first=at,
            last=at,
            memories=machine.way.backing_memories,
        )


def persistent_buffers(
    buffers: Sequence[Buffer], machine: ScheduledMachine, regions: Sequence[Region]
) -> Iterator[Buffer]:
    """The buffers of values: what never leaves a region has none, what a region reads lives until its last step."""
    inner = machine.scheduled.with_views({value for region in regions for value in region.unmaterialised})
    until: dict[str, int] = {}
    for region in regions:
        if len(region.steps) > 1:
            for name in region.steps:
                values = (value for value in machine.nodes[name].inputs if value in machine.scheduled.storage)
                until |= {machine.scheduled.storage[value].buffer: machine.numbers[region.name] for value in values}
    for buffer in buffers:
        if not inner.issuperset(buffer.values):
            yield replace(buffer, last=max(buffer.last, until.get(buffer.name, 0)))
