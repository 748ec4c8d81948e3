"""Knows a line-buffered plan before it is made: what it takes at least, and the decisions that lead to it.
Does not know how such plans are found.
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
        """The same steps together, each called so that it takes the least; None where it already is."""
        partition = self.search.least_memory(self.partition)
        if partition.segments == self.partition.segments:
            return None
        cycle_ratio = self.cycle_ratio * partition.cycles / self.partition.cycles
        return replace(
            self, partition=partition, size_bytes=self.search.least_bytes(partition), cycle_ratio=cycle_ratio
        )

    def decisions(self) -> Decisions:
        """The same order and in-place pairs, with these regions."""
        decisions = self.search.machine.decisions
        regions = self.search.regions(self.partition)
        return Decisions(order=decisions.order, in_place=decisions.in_place, tiles=regions)
