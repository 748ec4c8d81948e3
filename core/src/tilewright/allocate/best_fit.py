"""Knows the built-in allocator: cheap orders, a small exhaustive search, then a seeded random improvement.
Does not know stages. Proves optimality only by meeting the lower bound or by having tried everything.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from tilewright.allocate.packing.lower_bound import MOST_MEETINGS, count_of_meetings, pool_bound
from tilewright.allocate.packing.orders import MOST_BLOCKS, cheap_orders, finish_pool, varied
from tilewright.allocate.packing.packing import (
    Gap,
    Packing,
    Yard,
    pack_at_hints,
    pack_lower,
    pack_no_worse,
    packing_of,
    prepare,
)
from tilewright.allocate.packing.stacking import stack
from tilewright.allocate.problems.normalise import independent_parts
from tilewright.allocate.solving import unaligned, verdict
from tilewright.ir.plans.allocation import Budget, Place, Problem, Solution

_EXHAUSTIVE_SHARE = 4  # a quarter of the budget may go into the exhaustive search
_MOST_IDLE_ATTEMPTS = 600  # in a row without improvement
_ATTEMPTS_BEFORE_RETURN = 60  # from a drifting order back to the best one


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFit:
    """Minimises the sum of the pools' peaks, after using the preferred pools as much as it can.

    One unit of work is one block placed. A plan with every block at its hint wins where none is better.
    Source: greedy placement by size as in TensorFlow Lite's arena planner, skyline packing, and order search as in
    Arm's Vela, all long known.
    """

    name: str = "best-fit"
    summary: str = "several orders into the tightest gaps, improved by seeded search; exact for a few blocks"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`."""
        if (refused := unaligned(problem)) is not None:
            return refused
        if count_of_meetings(problem) > MOST_MEETINGS:
            return stack(problem)
        places: dict[str, Place] = {}
        optimal, work = True, 0
        for part in independent_parts(problem):
            solution = _solved(part, replace(budget, work=budget.work - work))
            work += solution.work
            if not solution.places:
                return replace(solution, work=work)
            places.update(solution.places)
            optimal = optimal and solution.status == "optimal"
        return Solution(status="optimal" if optimal else "feasible", places=places, work=work)


def _solved(problem: Problem, budget: Budget) -> Solution:
    """A problem that is one part."""
    yard = prepare(problem)
    best, work = quickly_packed(yard)
    closed = False
    if not _at_floor(yard, best):
        best, closed, spent = _exhaustive(yard, best, budget.work // _EXHAUSTIVE_SHARE)
        work += spent
    if not closed and not _at_floor(yard, best):
        best, spent = _improved(yard, best, budget.work - work, budget.seed)
        work += spent
    return verdict(problem, yard, best, closed, work)


def _at_floor(yard: Yard, packing: Packing) -> bool:
    return packing.cost == (0, 0, yard.floor)


def quickly_packed(yard: Yard) -> tuple[Packing, int]:
    """The best of every order into the first and into the tightest gaps, and blocks placed. Of equals the first."""
    gaps: tuple[Gap, ...] = ("first", "best")
    best, work = pack_at_hints(yard), len(yard.movable)
    if _at_floor(yard, best):
        return best, work
    best, work = pack_lower(yard, yard.movable, "first", best), 2 * work
    for order in cheap_orders(yard):
        for gap in gaps:
            best = pack_lower(yard, order, gap, best)
            work += len(order)
            if _at_floor(yard, best):
                return best, work
    return best, work


def _exhaustive(yard: Yard, best: Packing, limit: int) -> tuple[Packing, bool, int]:
    """Every small pool at its lowest peak. True when each pool's is proved, for blocks that have nowhere else to go."""
    blocks = yard.problem.blocks
    offsets, work, closed = list(best.offsets), 0, all(len(pools) == 1 for pools in yard.candidates)
    for pool, peak in enumerate(best.peaks):
        members = [i for i, block in enumerate(blocks) if best.pools[i] == pool and block.size_bytes]
        floor = pool_bound(yard.problem, yard.problem.pools[pool], members, yard.conflicts)
        if peak == floor:
            continue
        if len(members) > MOST_BLOCKS:
            closed = False
            continue
        finish = finish_pool(yard, pool, members, peak, floor, limit - work)
        work += finish.work
        closed = closed and finish.complete
        for index, offset in (finish.offsets or {}).items():
            offsets[index] = offset
    return packing_of(yard, best.pools, offsets), closed, work


def _improved(yard: Yard, best: Packing, limit: int, seed: int) -> tuple[Packing, int]:
    """Move a block that is to blame earlier in the order; keep what is no worse; stop at the floor or the limit."""
    count = len(yard.movable)
    if count == 0:
        return best, 0
    chance = random.Random(seed)
    # Lowest first: placed in this order into first gaps, no block comes to lie higher.
    order = sorted(yard.movable, key=lambda index: (best.offsets[index], index))
    best_order, now, work, idle, blamed = order, best, 0, 0, _blamed(yard, best)
    while work + count <= limit and idle < _MOST_IDLE_ATTEMPTS and not _at_floor(yard, best):
        if idle % _ATTEMPTS_BEFORE_RETURN == _ATTEMPTS_BEFORE_RETURN - 1:
            order, now, blamed = best_order, best, _blamed(yard, best)
        changed = varied(order, blamed, chance)
        packing = pack_no_worse(yard, changed, "first", now)
        work, idle = work + count, idle + 1
        if packing is None:
            continue
        order, now, blamed = changed, packing, _blamed(yard, packing)
        if packing.cost < best.cost:
            best_order, best, idle = changed, packing, 0
    return best, work


def _blamed(yard: Yard, packing: Packing) -> list[int]:
    """Blocks at a peak or away from their preferred pool, and the neighbours of those."""
    blamed: dict[int, None] = {}
    for index in yard.movable:
        block, pool = yard.problem.blocks[index], packing.pools[index]
        at_peak = packing.offsets[index] + block.size_bytes == packing.peaks[pool]
        if at_peak or pool != yard.candidates[index][0]:
            blamed.update(dict.fromkeys((index, *yard.conflicts[index])))
    return [index for index in blamed if yard.problem.blocks[index].fixed_offset is None]
