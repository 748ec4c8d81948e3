"""Knows how to find the lowest peak of one pool: the bound first, then quick plans, then a search between the two.
Does not know several pools.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright_minimalloc.greedy import height, quick
from tilewright_minimalloc.pool import Task
from tilewright_minimalloc.portfolio import MakeSearch, fit
from tilewright_minimalloc.search import Outcome

_SHARE = 4  # a quarter of what is left may go into one capacity


@dataclass(slots=True)
class PoolPeak:
    """What is known about the peak of one pool. `offsets` None: no plan within the capacity was found (yet)."""

    task: Task
    seed: int
    make: MakeSearch
    floor: int  # grains: proved, no plan is lower
    left: int  # nodes that may still be spent
    spent: int = 0
    offsets: list[int] | None = None
    height: int = 0  # of `offsets`, grains
    dead: bool = False  # proved: there is no plan

    @property
    def optimal(self) -> bool:
        """Whether the plan is proved to be lowest."""
        return self.offsets is not None and self.height <= self.floor

    def take(self, offsets: list[int]) -> None:
        """A plan; kept where it is within the capacity and lower than what there was."""
        top = height(self.task.instance, offsets)
        capacity = self.task.capacity
        if (capacity is None or top <= capacity) and (self.offsets is None or top < self.height):
            self.offsets, self.height = offsets, top

    def attempt(self, capacity: int, limit: int) -> Outcome:
        """Search within `capacity` grains; learn from how it ends."""
        outcome, nodes, offsets = fit(self.task.instance, capacity, min(limit, self.left), self.seed, self.make)
        self.spent, self.left = self.spent + nodes, self.left - nodes
        if outcome == Outcome.SOLVED:
            self.take(offsets)
        elif outcome == Outcome.FAILED:
            self.floor = max(self.floor, capacity + 1)
            self.dead = self.task.capacity is not None and self.floor > self.task.capacity
        return outcome


def lowest_peak(task: Task, work: int, seed: int, make: MakeSearch, *, any_plan: bool = False) -> PoolPeak:
    """The lowest plan found for `task` within `work` nodes; `any_plan` is content with one within the capacity."""
    peak = PoolPeak(task=task, seed=seed, make=make, floor=task.floor, left=work)
    if task.fault or (task.capacity is not None and peak.floor > task.capacity):
        peak.dead = True
        return peak
    if any_plan and task.capacity is not None:
        peak.attempt(task.capacity, peak.left)
    elif not any_plan:
        peak.attempt(peak.floor, peak.left // _SHARE)
    if peak.dead or peak.offsets is not None:
        return peak
    peak.take(quick(task.instance))
    if not any_plan:
        _close_in(peak)
    return peak


def _close_in(peak: PoolPeak) -> None:
    """Halve what is open between the bound and the best plan; then try to beat the best plan by one grain."""
    capacity = peak.task.capacity
    if peak.offsets is None and capacity is not None:
        peak.attempt(capacity, peak.left // 2)
    hopeless = peak.floor  # too little, proved or not
    while peak.offsets is not None and hopeless < peak.height and peak.left > 0:
        middle = (hopeless + peak.height - 1) // 2
        if peak.attempt(middle, peak.left // _SHARE + 1) != Outcome.SOLVED:
            hopeless = middle + 1
    while not peak.optimal and not peak.dead and peak.left > 0:
        ceiling = peak.height - 1 if peak.offsets is not None else capacity
        if ceiling is None or peak.attempt(ceiling, peak.left) == Outcome.STOPPED:
            return
