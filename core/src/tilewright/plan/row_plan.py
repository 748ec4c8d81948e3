"""Knows one way to compute steps by rows: what it takes, and the decisions that are it.
Does not know how it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.ir.decisions import Decisions
from tilewright.tile.row_programs import Division, RowPrograms


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlan:
    """The least that any plan with it takes, and how many times the cycles of layer by layer."""

    programs: RowPrograms
    division: Division
    size_bytes: int
    slowdown: float

    def roomier(self) -> RowPlan | None:
        """The same steps together, each called as takes the least; None where that is so."""
        division = self.programs.roomier(self.division)
        if division.segments == self.division.segments:
            return None
        slowdown = self.slowdown * division.cycles / self.division.cycles
        return replace(self, division=division, size_bytes=self.programs.least_bytes(division), slowdown=slowdown)

    def decisions(self) -> Decisions:
        """The same order and in-place pairs, with these regions."""
        decisions = self.programs.machine.decisions
        regions = self.programs.regions(self.division)
        return Decisions(order=decisions.order, in_place=decisions.in_place, tiles=regions)
