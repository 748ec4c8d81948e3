"""Knows how many bytes a plan has in other pools than those that are preferred, and how many every plan has.
Does not place anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tilewright.allocate.packing.fullest import Load, joined, surely_fullest
from tilewright.allocate.packing.lower_bound import free_bytes, sets_alive
from tilewright.ir.plans.allocation import Block, Problem, Solution
from tilewright.ir.rounding import align_up


def bytes_away(problem: Problem, solution: Solution) -> int:
    """Bytes of blocks that are not in their first pool, those times two that are in the third."""
    return sum(
        block.size_bytes * block.pools.index(solution.places[block.name].pool)
        for block in problem.blocks
        if block.size_bytes
    )


def least_bytes_away(problem: Problem) -> int:
    """No plan has less: what is alive at once and has no room, at moments that no block is counted at twice.

    Of a problem with pieces (`within`), whose blocks overlap, 0.
    """
    blocks = problem.blocks
    if problem.within or all(len(block.pools) == 1 for block in blocks):
        return 0
    moments = ((_crowded([blocks[i] for i in alive], problem), alive) for alive in sets_alive(problem))
    counted, least = set[int](), 0
    for away, alive in sorted(((away, alive) for away, alive in moments if away), reverse=True):
        if counted.isdisjoint(alive):
            counted.update(alive)
            least += away
    return least


def _crowded(blocks: Sequence[Block], problem: Problem) -> int:
    """Of blocks alive at once: what their first pools have no room for, then their first two, and so on."""
    rooms = {pool.name: free_bytes(pool) for pool in problem.pools}
    least = 0
    for depth in range(1, max((len(block.pools) for block in blocks), default=0)):
        free: dict[frozenset[str], list[Block]] = {}
        for block in blocks:
            if len(block.pools) > depth:
                free.setdefault(frozenset(block.pools[:depth]), []).append(block)
        for names, here in free.items():
            room = [rooms[name] for name in names]
            bound = [block for block in blocks if names.issuperset(block.pools)]
            if (ends := [one for one in room if one is not None]) and len(ends) == len(room):
                least += _beyond(here, bound, ends)
    return least


def _beyond(free: Sequence[Block], bound: Sequence[Block], rooms: Sequence[int]) -> int:
    """Bytes of `free` for which several pools have no room beside `bound`; in each, one is the last."""
    grain = math.gcd(*(block.align for block in (*free, *bound)))
    loads, held = [_load(block, grain) for block in free], joined([_load(block, grain) for block in bound])
    size, all_of_it = sum(load.size_bytes for load in loads), joined([*loads, held])
    room = sum(rooms) + (len(rooms) - 1) * all_of_it.spare_bytes
    if all_of_it.whole_bytes - all_of_it.spare_bytes <= room:
        return 0
    inside = surely_fullest(loads, room, held)
    if inside is None:
        return max(size - max(room - held.size_bytes, 0), 0)
    return size - sum(loads[number].size_bytes for number in inside)


def _load(block: Block, grain: int) -> Load:
    whole = align_up(block.size_bytes, grain)
    return Load(size_bytes=block.size_bytes, whole_bytes=whole, spare_bytes=whole - block.size_bytes)
