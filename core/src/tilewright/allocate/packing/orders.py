"""Knows cheap orders in which to place blocks, each good for some shape of problem, and how one becomes another.
Does not know gaps or capacities.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

from tilewright.allocate.packing.packing import Yard, lowest_offset


def cheap_orders(yard: Yard) -> tuple[tuple[int, ...], ...]:
    """Orders of the movable blocks, most successful first, each once. Deterministic: ties go by index."""
    blocks, conflicts = yard.problem.blocks, yard.conflicts
    size = [block.size_bytes for block in blocks]
    life = [sum(last - first + 1 for first, last in block.lifetimes) for block in blocks]
    birth = [min((first for first, _ in block.lifetimes), default=0) for block in blocks]
    weight = [sum(size[other] for other in row) for row in conflicts]

    def by(key: list[tuple[int, ...]]) -> tuple[int, ...]:
        return tuple(sorted(yard.movable, key=lambda index: (key[index], index)))

    every = range(len(blocks))
    found = (
        by([(-size[i], birth[i]) for i in every]),
        skyline(yard, life),
        by([(-weight[i], -size[i]) for i in every]),
        by([(-life[i], -size[i]) for i in every]),
        by([(-size[i] * life[i], birth[i]) for i in every]),
        by([(birth[i], -size[i]) for i in every]),
    )
    return tuple(dict.fromkeys(found))


def varied(order: Sequence[int], blamed: Sequence[int], chance: random.Random) -> list[int]:
    """`order` with one or two blocks moved, mostly of those to blame: mostly to an earlier place, else swapped."""
    changed = list(order)
    for _ in range(1 + chance.randrange(2)):
        chosen = chance.choice(blamed) if blamed and chance.randrange(4) else chance.choice(changed)
        place = changed.index(chosen)
        if place == 0 or chance.randrange(4) == 0:
            other = chance.randrange(len(changed))
            changed[place], changed[other] = changed[other], changed[place]
        else:
            changed.insert(chance.randrange(place), changed.pop(place))
    return changed


def skyline(yard: Yard, life: list[int]) -> tuple[int, ...]:
    """Always the block that can start lowest on top of its placed neighbours; then the longest-lived, the largest."""
    blocks = yard.problem.blocks
    level = [0] * len(blocks)
    for index, block in enumerate(blocks):
        if block.fixed_offset is not None:
            for other in yard.conflicts[index]:
                level[other] = max(level[other], block.fixed_offset + block.size_bytes)
    waiting, order = set(yard.movable), list[int]()
    start = {index: lowest_offset(yard, index, yard.candidates[index][0], level[index]) for index in waiting}
    heap = [(start[index], -life[index], -blocks[index].size_bytes, index) for index in waiting]
    heapq.heapify(heap)
    while heap:
        lowest, *_, chosen = heapq.heappop(heap)
        if chosen not in waiting or lowest < start[chosen]:
            continue  # it was raised since
        waiting.remove(chosen)
        order.append(chosen)
        top = start[chosen] + blocks[chosen].size_bytes
        for other in yard.conflicts[chosen]:
            if other in waiting and start[other] < top:
                start[other] = lowest_offset(yard, other, yard.candidates[other][0], top)
                heapq.heappush(heap, (start[other], -life[other], -blocks[other].size_bytes, other))
    return tuple(order)
