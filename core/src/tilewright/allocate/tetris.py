"""Knows random stacking, the simplest allocator of tile-based deployment tools: shuffle, then let every block fall.
Does not know gaps: a block comes to lie on the highest of those it conflicts with. A baseline, and quick.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.allocate.packing import Packing, Yard, lowest_offset, pack_where, prepare
from tilewright.allocate.verdict import unaligned, verdict
from tilewright.ir.allocation import Budget, Problem, Solution

_ATTEMPTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TetrisRandom:
    """The best of 32 shuffles, the first one the given order. One unit of work is one block placed."""

    name: str = "tetris-random"
    summary: str = "blocks fall onto each other in random order, 32 times"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`."""
        if (refused := unaligned(problem)) is not None:
            return refused
        yard = prepare(problem)
        order, chance = list(yard.movable), random.Random(budget.seed)
        best, work = pack_where(yard, order, _on_top), len(order)
        for _ in range(min(_ATTEMPTS, budget.work // max(len(order), 1)) - 1):
            if best.cost == (0, 0, yard.floor):
                break
            chance.shuffle(order)
            best = min(best, pack_where(yard, order, _on_top), key=_cost)
            work += len(order)
        return verdict(problem, yard, best, False, work)


def _cost(packing: Packing) -> tuple[int, int, int]:
    return packing.cost


def _on_top(yard: Yard, index: int, pool: int, pools: Sequence[int], offsets: Sequence[int]) -> int:
    blocks = yard.problem.blocks
    tops = (offsets[other] + blocks[other].size_bytes for other in yard.conflicts[index] if pools[other] == pool)
    return lowest_offset(yard, index, pool, max(tops, default=0))
