"""Knows the simplest tiling: every step is a group, computed in one piece where its operands are.
Does not know memories; a model whose buffers do not fit is for another tiler.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ir.regions import Region
from tilewright.ir.stages import Group
from tilewright.ir.tiler import TilingRequest
from tilewright.tile.buffers import not_together


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeTiler:
    """No tiles: for machines with one memory."""

    name: str = "whole"
    summary: str = "every layer in one piece; for machines with one memory"

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        """See `Tiler.plan`."""
        bindings = request.scheduled.bound.bindings
        if any(len(names) > 1 for names in request.decisions.groups):
            raise not_together([], "this machine has no scratchpad that they would stay in")
        groups = []
        for step in request.scheduled.steps:
            binding = bindings[step.name]
            cycles = next(item.cycles for item in binding.candidates if item.kernel.name == binding.kernel.name)
            groups.append(Group(region=Region(steps=(step.name,)), cycles=cycles))
        return tuple(groups)
