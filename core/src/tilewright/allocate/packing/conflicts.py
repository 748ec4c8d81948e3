"""Knows which blocks of a problem may not share a byte.
Does not know pools' contents, nor where anything is placed.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from tilewright.ir.plans.allocation import Problem
from tilewright.ir.plans.block_columns import columns_of

MOST_MEETINGS = 1_000_000  # pairs of blocks alive at once, above which the core does not list them


def neighbours(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """For each block (by index) the blocks it conflicts with, ascending. Blocks of no bytes conflict with none."""
    index = {block.name: number for number, block in enumerate(problem.blocks)}
    found: list[list[int]] = [[] for _ in problem.blocks]
    alive: list[tuple[int, int]] = []  # (last, block) of intervals that may still meet a later one
    intervals = sorted(
        (first, last, number)
        for number, block in enumerate(problem.blocks)
        if block.size_bytes
        for first, last in block.lifetimes
    )
    for first, last, number in intervals:
        alive = [other for other in alive if other[0] >= first]
        found[number].extend(other for _, other in alive)
        for _, other in alive:
            found[other].append(number)
        alive.append((last, number))
    rows = [set(row) for row in found]
    for name, name_of_other in problem.compatible:
        one, other = index[name], index[name_of_other]
        rows[one].discard(other)
        rows[other].discard(one)
    for name, name_of_other in problem.conflicts:
        one, other = index[name], index[name_of_other]
        if problem.blocks[one].size_bytes and problem.blocks[other].size_bytes:
            rows[one].add(other)
            rows[other].add(one)
    return tuple(tuple(sorted(row - {number})) for number, row in enumerate(rows))


def count_of_meetings(problem: Problem) -> int:
    """How many pairs of lifetimes meet, and explicit conflicts: how long `neighbours` would be, without making it."""
    if (columns := columns_of(problem.blocks)) is not None:
        return columns.meetings() + len(problem.conflicts)
    births = sorted(first for block in problem.blocks for first, _ in block.lifetimes)
    deaths = sorted(last for block in problem.blocks for _, last in block.lifetimes)
    together = sum(bisect_right(births, last) for last in deaths) - sum(bisect_left(deaths, first) for first in births)
    return (together - len(births)) // 2 + len(problem.conflicts)
