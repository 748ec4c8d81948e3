"""Knows how to divide blocks among pools: preferred pools first, then the lowest sum of peaks.
Does not know how one pool is packed (`lowest`).

A plan is better when fewer bytes times steps are away from their preferred pool; among equals, when the peaks add up
to less. A first division comes from putting the largest blocks first into the first pool with room; blocks are then
promoted where the exact search makes room for them. What remains of the budget goes into the divisions that would be
better, cheapest first, so that a small problem is settled: proved lowest, or proved to have no plan.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.api import align_up
from tilewright.api.allocator import Block, Problem
from tilewright_minimalloc.cliques import cliques_of
from tilewright_minimalloc.lowest import PoolPeak, lowest_peak
from tilewright_minimalloc.pool import make_task
from tilewright_minimalloc.portfolio import MakeSearch

_SHARE = 8  # of the budget that is left, for one pool of one division

Division = tuple[int, ...]  # by block, its pool


@dataclass(slots=True)
class Ground:
    """A problem whose blocks all have bytes and at least one candidate; budget and answers so far."""

    problem: Problem
    blocks: tuple[Block, ...]
    candidates: tuple[tuple[int, ...], ...]  # by block, pools, best first
    seed: int
    make: MakeSearch
    left: int
    any_plan: bool
    spent: int = 0
    peaks: dict[tuple[int, frozenset[int]], PoolPeak] = field(default_factory=dict)

    def away(self, division: Sequence[int]) -> int:
        """Bytes times steps from the preferred pool."""
        return sum(
            block.size_bytes * options.index(pool)
            for block, options, pool in zip(self.blocks, self.candidates, division, strict=False)
        )

    def peak_of(self, pool: int, members: frozenset[int]) -> PoolPeak:
        """The lowest plan for `members` in `pool`, worked out once."""
        key = (pool, members)
        if key not in self.peaks:
            inside = [self.blocks[number] for number in sorted(members)]
            task = make_task(self.problem, self.problem.pools[pool], inside)
            alone = all(len(options) == 1 for options in self.candidates)
            limit = max(self.left, 0) // (1 if alone else _SHARE)
            result = lowest_peak(task, limit, self.seed, self.make, any_plan=self.any_plan)
            self.peaks[key] = result
            self.charge(result.spent)
        return self.peaks[key]

    def peaks_of(self, division: Sequence[int]) -> list[PoolPeak]:
        """The peak of each pool, in the problem's order; stops at the first pool without a plan."""
        result = []
        for pool in range(len(self.problem.pools)):
            result.append(self.peak_of(pool, frozenset(b for b, chosen in enumerate(division) if chosen == pool)))
            if result[-1].offsets is None:
                break
        return result

    def charge(self, work: int) -> None:
        """Count `work`."""
        self.spent, self.left = self.spent + work, self.left - work


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A division whose pools all have a plan."""

    division: Division
    peaks: tuple[PoolPeak, ...]
    away: int

    @property
    def cost(self) -> tuple[int, int]:
        """Lower is better."""
        return self.away, sum(peak.task.peak_bytes(peak.height) for peak in self.peaks)


def divide(ground: Ground) -> tuple[Plan | None, bool]:
    """The best plan found, and whether that is proved: that it is best, or without one that there is none."""
    preferred = tuple(options[0] for options in ground.candidates)
    plan = _planned(ground, preferred)
    if plan is not None:
        return plan, all(peak.optimal for peak in plan.peaks)
    if all(len(options) == 1 for options in ground.candidates):
        return None, any(peak.dead for peak in ground.peaks_of(preferred))
    plan = _planned(ground, _first_fit(ground))
    if plan is not None:
        plan = _promoted(ground, plan)
    return _searched(ground, plan)


def _planned(ground: Ground, division: Division) -> Plan | None:
    peaks = ground.peaks_of(division)
    if any(peak.offsets is None for peak in peaks):
        return None
    return Plan(division=division, peaks=tuple(peaks), away=ground.away(division))


def _first_fit(ground: Ground) -> Division:
    """The largest first, each in its first candidate with a gap for it; in the last one where none has."""
    blocks, pools = ground.blocks, ground.problem.pools
    sections: list[list[int]] = [[] for _ in blocks]
    cliques = cliques_of(ground.problem, blocks)
    for number, clique in enumerate(cliques):
        for block in clique:
            sections[block].append(number)
    taken: list[list[set[tuple[int, int]]]] = [[set() for _ in cliques] for _ in pools]
    division = [-1] * len(blocks)
    order = sorted(range(len(blocks)), key=lambda b: (blocks[b].fixed_offset is None, -blocks[b].size_bytes, b))
    for block in order:
        for pool in ground.candidates[block]:
            ranges = set(pools[pool].reserved).union(*(taken[pool][section] for section in sections[block]))
            offset = _lowest_free(blocks[block], ranges)
            capacity = pools[pool].capacity_bytes
            fixed = blocks[block].fixed_offset
            division[block] = pool
            if (capacity is None or offset + blocks[block].size_bytes <= capacity) and fixed in (None, offset):
                break
        for section in sections[block]:
            taken[division[block]][section].add((offset, offset + blocks[block].size_bytes))
    return tuple(division)


def _lowest_free(block: Block, ranges: set[tuple[int, int]]) -> int:
    offset = block.fixed_offset or 0
    for low, high in sorted(ranges):
        if low < offset + block.size_bytes and offset < high:
            offset = align_up(high, block.align)
    return offset


def _promoted(ground: Ground, plan: Plan) -> Plan:
    """Move blocks to better pools wherever these then still have a plan, the most bytes first."""
    weights = [ground.blocks[b].size_bytes * ground.candidates[b].index(pool) for b, pool in enumerate(plan.division)]
    for block in sorted(range(len(weights)), key=lambda block: (-weights[block], block)):
        if not weights[block]:
            break
        for pool in ground.candidates[block]:
            if pool == plan.division[block] or ground.left <= 0:
                break
            ground.charge(len(ground.blocks))
            moved = (*plan.division[:block], pool, *plan.division[block + 1 :])
            better = _planned(ground, moved)
            if better is not None:
                plan = better
                break
    return plan


def _searched(ground: Ground, best: Plan | None) -> tuple[Plan | None, bool]:
    """Divisions by rising cost, decided block by block, the largest first; until the best can no longer be beaten."""
    order = sorted(
        range(len(ground.blocks)),
        key=lambda b: (len(ground.candidates[b]) > 1, -ground.blocks[b].size_bytes, b),
    )
    sure = True
    waiting: list[tuple[int, int, Division]] = [(0, 0, ())]
    while waiting:
        away, depth, chosen = heapq.heappop(waiting)
        if best is not None and (away > best.away or (ground.any_plan and away >= best.away)):
            break
        if ground.left <= 0:
            return best, False
        ground.charge(1)
        if len(chosen) < len(order):
            for cost, division in _longer(ground, order, chosen):
                heapq.heappush(waiting, (away + cost, depth - 1, division))
            continue
        whole = tuple(pool for _, pool in sorted(zip(order, chosen, strict=True)))
        peaks = ground.peaks_of(whole)
        plan = _planned(ground, whole)
        if plan is None:
            sure = sure and any(peak.dead for peak in peaks)
        else:
            sure = sure and all(peak.optimal for peak in peaks)
            best = plan if best is None or plan.cost < best.cost else best
    return best, sure


def _longer(ground: Ground, order: Sequence[int], chosen: Division) -> list[tuple[int, Division]]:
    """`chosen` with a pool for one more block, and what it costs, where that is not too much for the pool already."""
    block = order[len(chosen)]
    result = []
    for rank, pool in enumerate(ground.candidates[block]):
        members = [b for b, at in zip(order, chosen, strict=False) if at == pool]
        inside = [ground.blocks[number] for number in sorted([*members, block])]
        task = make_task(ground.problem, ground.problem.pools[pool], inside)
        if task.fault or (task.capacity is not None and task.floor > task.capacity):
            continue
        result.append((ground.blocks[block].size_bytes * rank, (*chosen, pool)))
    return result
