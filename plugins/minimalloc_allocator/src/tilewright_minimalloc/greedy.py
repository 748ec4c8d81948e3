"""Knows two quick ways to place every block of an instance, none of which ever fails. Does not search."""

from __future__ import annotations

import heapq

from tilewright.api import align_up
from tilewright_minimalloc.instance import Instance


def quick(instance: Instance) -> list[int]:
    """The better of `skyline` and `by_size`: the offset of every block, in grains."""
    return min(skyline(instance), by_size(instance), key=lambda offsets: height(instance, offsets))


def height(instance: Instance, offsets: list[int]) -> int:
    """Grains up to the end of the topmost block."""
    return max((offset + size for offset, size in zip(offsets, instance.sizes, strict=True)), default=0)


def skyline(instance: Instance) -> list[int]:
    """Always the block that can start lowest on top of those placed; then the longest-lived, then the largest."""
    level = [0] * len(instance.sections)
    offsets = [0] * len(instance.sizes)
    waiting = [
        (_clear(instance, block, 0), -instance.durations[block], -size, block)
        for block, size in enumerate(instance.sizes)
    ]
    heapq.heapify(waiting)
    while waiting:
        start, duration, size, block = waiting[0]
        now = _clear(instance, block, max(level[section] for section in instance.spans[block]))
        if now > start:  # levels only rise: what was known was too low
            heapq.heapreplace(waiting, (now, duration, size, block))
            continue
        heapq.heappop(waiting)
        offsets[block] = now
        for section in instance.spans[block]:
            level[section] = now + instance.sizes[block]
    return offsets


def by_size(instance: Instance) -> list[int]:
    """The largest first, each at the lowest offset that is free."""
    taken: list[list[tuple[int, int]]] = [[] for _ in instance.sections]
    offsets = [0] * len(instance.sizes)
    for block in sorted(range(len(instance.sizes)), key=lambda block: (-instance.sizes[block], block)):
        size = instance.sizes[block]
        offset = _clear(instance, block, 0)
        for low, high in sorted({there for section in instance.spans[block] for there in taken[section]}):
            if low < offset + size and offset < high:
                offset = _clear(instance, block, high)
        offsets[block] = offset
        for section in instance.spans[block]:
            taken[section].append((offset, offset + size))
    return offsets


def _clear(instance: Instance, block: int, offset: int) -> int:
    align, size = instance.aligns[block], instance.sizes[block]
    offset = align_up(offset, align)
    for low, high in instance.obstacles[block]:
        if offset < high and low < offset + size:
            offset = align_up(high, align)
    return offset
