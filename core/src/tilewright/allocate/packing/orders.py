"""Knows in which orders blocks are placed: cheap orders, each good for some shape of problem, how one becomes another,
and, for the few blocks of one pool, every order that matters. Large problems are for an exact allocator.
Does not know gaps, nor in the exhaustive search pools beside its own.

Why the exhaustive search is complete: take any packing and let every block sink, lowest first, onto the blocks below
it; no block rises. So it is enough to try all sequences of blocks in which each one lies on top of its neighbours
placed before it and no lower than the last: packings in which a block could sink further are never better.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

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
    orders = (
        by([(-size[i], birth[i]) for i in every]),
        skyline(yard, life),
        by([(-weight[i], -size[i]) for i in every]),
        by([(-life[i], -size[i]) for i in every]),
        by([(-size[i] * life[i], birth[i]) for i in every]),
        by([(birth[i], -size[i]) for i in every]),
    )
    return tuple(dict.fromkeys(orders))


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


MOST_BLOCKS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The best offsets found (None: none under the given peak), whether all was tried, and tries spent."""

    offsets: dict[int, int] | None
    complete: bool
    work: int


def finish_pool(yard: Yard, pool: int, members: Sequence[int], peak: int, floor: int, limit: int) -> Finish:
    """Search packings of `members` (all in `pool`) with a peak under `peak`; stop at `floor` or after `limit` tries."""
    blocks = yard.problem.blocks
    search = _Search(yard=yard, pool=pool, peak=peak, floor=floor, limit=limit)
    fixed = [index for index in members if blocks[index].fixed_offset is not None]
    free = tuple(index for index in members if blocks[index].fixed_offset is None)
    search.fixed = {index: blocks[index].fixed_offset or 0 for index in fixed}
    start = {index: search.clear(index, 0) for index in free}
    search.descend(free, start, -1, -1, max((search.end(i, at) for i, at in search.fixed.items()), default=0))
    complete = search.work < limit
    return Finish(offsets=search.best, complete=complete, work=search.work)


class _Search:
    """One run: the packing under construction and the best one so far."""

    def __init__(self, *, yard: Yard, pool: int, peak: int, floor: int, limit: int) -> None:
        self.yard, self.pool, self.peak, self.floor, self.limit = yard, pool, peak, floor, limit
        self.fixed: dict[int, int] = {}
        self.placed: dict[int, int] = {}
        self.best: dict[int, int] | None = None
        self.work = 0

    def end(self, index: int, offset: int) -> int:
        return offset + self.yard.problem.blocks[index].size_bytes

    def clear(self, index: int, at_least: int) -> int:
        """The lowest offset from `at_least` on that avoids reserved ranges and fixed neighbours."""
        neighbours = [other for other in self.yard.conflicts[index] if other in self.fixed]
        in_the_way = sorted((self.fixed[other], self.end(other, self.fixed[other])) for other in neighbours)
        offset, moved = at_least, True
        while moved:
            offset = lowest_offset(self.yard, index, self.pool, offset)
            moved = False
            for low, high in in_the_way:
                if offset < high and low < self.end(index, offset):
                    offset, moved = high, True
        return offset

    def descend(self, free: tuple[int, ...], start: dict[int, int], level: int, last: int, peak: int) -> None:
        """Place the next block: `level` and `last` are the offset and index of the one before."""
        if peak >= self.peak or self.work >= self.limit:
            return
        if not free:
            self.best, self.peak = {**self.placed, **self.fixed}, peak
            return
        if any(self.end(index, start[index]) >= self.peak for index in free):
            return
        for chosen in sorted(free, key=lambda i: (start[i], -self.yard.problem.blocks[i].size_bytes, i)):
            offset = start[chosen]
            if (offset, chosen) < (level, last) or self.peak <= self.floor:
                continue
            self.work += 1
            rest = tuple(index for index in free if index != chosen)
            top, neighbours = self.end(chosen, offset), self.yard.conflicts[chosen]
            raised = {
                index: self.clear(index, top) if start[index] < top and index in neighbours else start[index]
                for index in rest
            }
            self.placed[chosen] = offset
            self.descend(rest, raised, offset, chosen, max(peak, top))
            del self.placed[chosen]
