"""Knows sets of blocks that exclude each other such that every excluding pair is in one: from lifetimes and from pairs.
Does not know sizes of pools, offsets or any search.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.api.allocator import Block, Problem
from tilewright_minimalloc.instance import cliques_in_time


def cliques_of(problem: Problem, blocks: Sequence[Block]) -> list[tuple[int, ...]]:
    """Cliques of the blocks (by their place in `blocks`) that may not share a byte of a pool."""
    index = {block.name: number for number, block in enumerate(blocks)}
    timed = cliques_in_time([block.lifetimes for block in blocks])
    apart, together = _pairs(problem.conflicts, index), _pairs(problem.compatible, index)
    if not apart and not together:
        return timed
    adjacent = _adjacent(timed, len(blocks))
    for left, right in together:
        adjacent[left] &= ~(1 << right)
        adjacent[right] &= ~(1 << left)
    for left, right in apart:
        adjacent[left] |= 1 << right
        adjacent[right] |= 1 << left
    kept = [clique for clique in timed if _is_clique(clique, adjacent)] if together else timed
    return [*kept, *_covering(kept, adjacent, [block.size_bytes for block in blocks])]


def _pairs(pairs: tuple[tuple[str, str], ...], index: dict[str, int]) -> list[tuple[int, int]]:
    return [
        (index[left], index[right]) for left, right in pairs if left in index and right in index and left != right
    ]  # fmt: skip


def _adjacent(cliques: Sequence[Sequence[int]], count: int) -> list[int]:
    """By block, its neighbours as a set of bits."""
    result = [0] * count
    for clique in cliques:
        bits = sum(1 << block for block in clique)
        for block in clique:
            result[block] |= bits
    return [bits & ~(1 << block) for block, bits in enumerate(result)]


def _is_clique(members: Sequence[int], adjacent: Sequence[int]) -> bool:
    bits = sum(1 << block for block in members)
    return all(bits & ~(1 << block) & ~adjacent[block] == 0 for block in members)


def _covering(kept: Sequence[Sequence[int]], adjacent: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Cliques with every pair that none of `kept` has, each as heavy as can be had quickly."""
    covered = _adjacent(kept, len(adjacent))
    result = []
    for left in sorted(range(len(adjacent)), key=lambda block: (-sizes[block], block)):
        for right in _heaviest_first(adjacent[left] & ~covered[left], sizes):
            if covered[left] >> right & 1:
                continue
            clique = _grown(left, right, adjacent, sizes)
            bits = sum(1 << block for block in clique)
            for block in clique:
                covered[block] |= bits
            result.append(clique)
    return result


def _grown(left: int, right: int, adjacent: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...]:
    clique, common = [left, right], adjacent[left] & adjacent[right]
    for block in _heaviest_first(common, sizes):
        if common >> block & 1:
            clique.append(block)
            common &= adjacent[block]
    return tuple(clique)


def _heaviest_first(bits: int, sizes: Sequence[int]) -> list[int]:
    """The blocks of a set, of equals the first."""
    result = []
    while bits:
        result.append(bits.bit_length() - 1)
        bits ^= 1 << result[-1]
    return sorted(result, key=lambda block: (-sizes[block], block))
