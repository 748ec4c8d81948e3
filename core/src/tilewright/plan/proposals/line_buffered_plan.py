"""Knows one way to compute steps by rows: what it takes, and the decisions that are it.
Does not know how it is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.ir.plans.decisions import Decisions
from tilewright.tile.line_buffers.partition import LineBufferPartition, LineBufferSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class LineBufferedPlan:
    """The least that any plan with it takes, and how many times the cycles of layer by layer."""

    search: LineBufferSearch
    partition: LineBufferPartition
    size_bytes: int
    cycle_ratio: float

    def least_memory(self) -> LineBufferedPlan | None:
        """The same steps together, each called as takes the least; None where that is so."""
        division = self.search.least_memory(self.partition)
        if division.segments == self.partition.segments:
            return None
        slowdown = self.cycle_ratio * division.cycles / self.partition.cycles
        return replace(self, partition=division, size_bytes=self.search.least_bytes(division), cycle_ratio=slowdown)

    def decisions(self) -> Decisions:
        """The same order and in-place pairs, with these regions."""
        decisions = self.search.machine.decisions
        regions = self.search.regions(self.partition)
        return Decisions(order=decisions.order, in_place=decisions.in_place, tiles=regions)
