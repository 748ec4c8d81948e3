"""Knows which kernels the steps of a way by rows may have: the fastest whose scratch has room beside all else.
Does not know how ways are found (`line_buffer_candidates`), nor how kernels are bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from tilewright.bind.candidates import engine_of
from tilewright.ir.plans.stages import Candidate
from tilewright.plan.line_buffers.kernels import line_buffered_cycles
from tilewright.plan.proposals.line_buffered_plan import LineBufferedPlan
from tilewright.plan.proposals.shortfall import KernelChoice
from tilewright.tile.line_buffers.segments import Segment


def kernels_within(way: LineBufferedPlan, limit: float, choice: KernelChoice) -> dict[str, str]:
    """By node, the fastest kernels with which no segment of `way` takes more than `limit` bytes, where another one is
    bound; {} where none do, or all of these are. `choice` is of the way's binding.

    The steps of a segment share scratch: each may take as much as all else in the segment leaves.
    """
    steps = [step.name for step in way.search.machine.scheduled.steps]
    result: dict[str, str] = {}
    for segment in way.partition.segments:
        own = steps[segment.first : segment.last + 1]
        room = limit - (segment.size_bytes - max(map(choice.used, own)))
        for step in own:
            fastest = min(_within(room, step, segment, choice), default=None)
            if fastest is not None and fastest[1] != choice.bound.bindings[step].kernel.name:
                result[step] = fastest[1]
            if fastest is None and choice.used(step) > room:
                return {}
    return result


def _within(room: float, step: str, segment: Segment, choice: KernelChoice) -> Iterator[tuple[float, str]]:
    """Cycles and names of the kernels of a step that take no more scratch than `room`, and its values as they are."""
    for candidate in choice.candidates(step, {}):
        fits = choice.scratch(step, candidate.kernel) <= room and choice.keeps_layouts(step, candidate.kernel)
        if fits and (cycles := _cycles(candidate, step, segment, choice)) < inf:
            yield cycles, candidate.kernel.name


def _cycles(candidate: Candidate, step: str, segment: Segment, choice: KernelChoice) -> float:
    if segment.row_schedule is None:
        return candidate.cycles
    engine = engine_of(candidate.kernel, choice.bound.platform)
    return line_buffered_cycles(candidate, choice.sites[step], choice.layers, engine)
