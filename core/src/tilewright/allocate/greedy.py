"""Knows the two greedy allocators of TVM's Unified Static Memory Planner (RFC 0009): one order, first gaps.
Does not look back: what is placed stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilewright.allocate.packing import Yard, pack, prepare
from tilewright.allocate.verdict import unaligned, verdict
from tilewright.ir.allocation import Budget, Problem, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyBySize:
    """Largest block first, into the lowest gap of the first candidate pool that has room. Source: RFC 0009."""

    name: str = "greedy-by-size"
    summary: str = "largest first, into the lowest gap (TVM's default)"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`. One unit of work is one block placed; the budget is not needed."""
        return _placed_in_order(problem, by_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class GreedyByConflicts:
    """The block with most conflicts first, likewise. Source: RFC 0009."""

    name: str = "greedy-by-conflicts"
    summary: str = "most conflicts first, into the lowest gap (TVM)"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`. One unit of work is one block placed; the budget is not needed."""
        return _placed_in_order(problem, _by_conflicts)


def by_size(yard: Yard) -> list[int]:
    """Movable blocks, largest first; of equals the one with more conflicts, then by name."""
    blocks = yard.problem.blocks
    return sorted(yard.movable, key=lambda i: (-blocks[i].size_bytes, -len(yard.conflicts[i]), blocks[i].name))


def _by_conflicts(yard: Yard) -> list[int]:
    blocks = yard.problem.blocks
    return sorted(yard.movable, key=lambda i: (-len(yard.conflicts[i]), -blocks[i].size_bytes, blocks[i].name))


def _placed_in_order(problem: Problem, order_of: Callable[[Yard], Sequence[int]]) -> Solution:
    if (refused := unaligned(problem)) is not None:
        return refused
    yard = prepare(problem)
    order = order_of(yard)
    return verdict(problem, yard, pack(yard, order, "first"), False, len(order))
