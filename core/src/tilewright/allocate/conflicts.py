"""Knows which blocks of a problem may not share a byte.
Does not know pools' contents, nor where anything is placed.
"""

from __future__ import annotations

from tilewright.allocate.problem import Problem


def neighbours(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """For each block (by index) the blocks it conflicts with, ascending. Blocks of no bytes conflict with none."""
    index = {block.name: number for number, block in enumerate(problem.blocks)}
    pairs: set[tuple[int, int]] = set()
    alive: list[tuple[int, int]] = []  # (last, block) of intervals that may still meet a later one
    intervals = sorted((first, last, index[block.name]) for block in problem.blocks for first, last in block.lifetimes)
    for first, last, number in intervals:
        alive = [other for other in alive if other[0] >= first]
        pairs.update((min(number, other), max(number, other)) for _, other in alive if other != number)
        alive.append((last, number))
    pairs.difference_update(_numbered(problem.compatible, index))
    pairs.update(_numbered(problem.conflicts, index))
    found: list[list[int]] = [[] for _ in problem.blocks]
    for one, other in sorted(pairs):
        if problem.blocks[one].size_bytes and problem.blocks[other].size_bytes:
            found[one].append(other)
            found[other].append(one)
    return tuple(tuple(sorted(row)) for row in found)


def _numbered(pairs: tuple[tuple[str, str], ...], index: dict[str, int]) -> list[tuple[int, int]]:
    numbered = ((index[one], index[other]) for one, other in pairs)
    return [(min(pair), max(pair)) for pair in numbered if pair[0] != pair[1]]
