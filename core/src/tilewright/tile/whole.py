"""Knows the simplest tiling: every step is a group, computed in one piece where its operands are; and the regions by
rows that are decided.
Does not know memories; a model whose buffers do not fit is for another tiler, or for rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Group, Step
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.tile.tile_buffers import first_of, not_together


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTiler:
    """No tiles: for machines with one memory."""

    name: str = "whole"
    summary: str = "every layer in one piece; for machines with one memory"

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`."""
        by_rows = {
            name: region for region in request.decisions.tiles.values() if region.line_buffers for name in region.steps
        }
        if any(len(names) > 1 and names[-1] not in by_rows for names in request.decisions.groups):
            raise not_together([], "this machine has no scratchpad that they would stay in")
        numbers = {step.name: number for number, step in enumerate(request.scheduled.steps)}
        for rows in by_rows.values():
            first_of(rows.steps, numbers)
        groups, steps = list[Group](), None
        for step in request.scheduled.steps:
            region = by_rows.get(step.name)
            if region is None:
                groups.append(_alone(step, request))
            elif region.name == step.name and region.line_buffers is not None:
                from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
                from tilewright.tile.line_buffers.buffers import line_buffered_cycles
                from tilewright.tile.space.step_spaces import ScheduledMachine

                machine = ScheduledMachine(request.scheduled, request.operators, request.decisions)
                steps = steps or LineBufferAnalysis(machine)
                groups.append(Group(region=region, cycles=line_buffered_cycles(steps, region, region.line_buffers)))
        return tuple(groups)


def _alone(step: Step, request: TilingRequest) -> Group:
    binding = request.scheduled.bound.bindings[step.name]
    cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
    return Group(region=Region(steps=(step.name,)), cycles=cycles)
