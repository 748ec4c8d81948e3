"""Knows two allocators of TVM's Unified Static Memory Planner (RFC 0009), as baselines: one order into the first gaps,
and hill climbing over orders. Does not know gaps or pools itself.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from tilewright.allocate.packing.packing import Packing, Yard, pack, prepare
from tilewright.allocate.solving import unaligned, verdict
from tilewright.ir.plans.allocation import Budget, Problem, Solution

_ATTEMPTS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyBySize:
    """Largest block first, into the lowest gap of the first candidate pool that has room. Source: RFC 0009."""

    name: str = "greedy-by-size"
    summary: str = "largest first, into the lowest gap (TVM's default)"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`. One unit of work is one block placed; the budget is not needed."""
        if (refused := unaligned(problem)) is not None:
            return refused
        yard = prepare(problem)
        order = _by_size(yard)
        return verdict(problem, yard, pack(yard, order, "first"), False, len(order))


@dataclass(frozen=True, slots=True, kw_only=True)
class HillClimb:
    """At most 500 orders, the first one by size: swap what is in the way of the block at the peak, keep what is better,
    and now and then what is worse. One unit of work is one block placed.
    """

    name: str = "hill-climb"
    summary: str = "swaps blocks around the peak, 500 times (TVM)"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`."""
        if (refused := unaligned(problem)) is not None:
            return refused
        yard = prepare(problem)
        order = _by_size(yard)
        best = now = pack(yard, order, "first")
        work, chance = len(order), random.Random(budget.seed)
        attempts = min(_ATTEMPTS, budget.work // max(len(order), 1)) if len(order) > 1 else 0
        for attempt in range(attempts):
            if best.cost == (0, 0, yard.floor):
                break
            changed = _swapped(yard, now, order, chance)
            packing = pack(yard, changed, "first")
            work += len(order)
            if packing.cost < best.cost:
                best = packing
            if packing.cost <= now.cost or chance.randrange(attempts) > attempts // 2 + attempt:
                order, now = changed, packing
        return verdict(problem, yard, best, False, work)


def _by_size(yard: Yard) -> list[int]:
    """Movable blocks, largest first; of equals the one with more conflicts, then by name."""
    blocks = yard.problem.blocks
    return sorted(yard.movable, key=lambda i: (-blocks[i].size_bytes, -len(yard.conflicts[i]), blocks[i].name))


def _swapped(yard: Yard, packing: Packing, order: list[int], chance: random.Random) -> list[int]:
    """Exchange a block at a peak, or one it conflicts with, with a block that is two conflicts away at most."""
    blocks = yard.problem.blocks
    at_peak = [
        index
        for index in order
        if packing.offsets[index] + blocks[index].size_bytes == packing.peaks[packing.pools[index]]
    ]
    movable = set(order)
    moved = chance.choice(at_peak or order)
    neighbours = [index for index in yard.conflicts[moved] if index in movable]
    if neighbours and chance.randrange(2):
        moved = chance.choice(neighbours)
    around = dict.fromkeys(index for other in yard.conflicts[moved] for index in (other, *yard.conflicts[other]))
    others = [index for index in around if index in movable and index != moved] or order
    changed = list(order)
    here, there = changed.index(moved), changed.index(chance.choice(others))
    changed[here], changed[there] = changed[there], changed[here]
    return changed
