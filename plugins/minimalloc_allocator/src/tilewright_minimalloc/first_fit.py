"""Knows how very many blocks are placed: several orders, each block at its lowest free offset, and what is too high
then in a window of its own; after that the best order again and again, with those in front that came to lie too high.
Does not know where C is missing, or a pool is more than blocks with one lifetime each: there the answer is None.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tilewright.api.allocator import Block, Place, Pool, Problem
from tilewright_minimalloc.native import NativeSearch, extension
from tilewright_minimalloc.search import PythonSearch
from tilewright_minimalloc.windows import Windows
from tilewright_minimalloc.yard import Numbers, Yard, yard_of


def first_fit(problem: Problem, bounds: dict[str, int], work: int) -> dict[str, Place] | None:
    """Every block in its first pool; None where that cannot be, or the pools are too small for it.

    One order is tried in any case, and as much time again spent on what is too high in it; others as long as not yet
    `work` blocks of the pool are placed. A node of a search counts as four.
    """
    if problem.conflicts or problem.compatible:
        return None
    places: dict[str, Place] = {}
    for pool in problem.pools:
        inside = [block for block in problem.blocks if block.pools[0] == pool.name]
        if not inside:
            continue
        offsets = _lowest(pool, inside, bounds[pool.name], work)
        if offsets is None:
            return None
        for block, offset in zip(inside, offsets.tolist(), strict=True):
            places[block.name] = Place(pool=pool.name, offset_bytes=offset)
    return places


def _lowest(pool: Pool, blocks: Sequence[Block], bound: int, work: int) -> Numbers | None:
    if pool.reserved or any(len(block.lifetimes) != 1 or block.fixed_offset is not None for block in blocks):
        return None
    yard = yard_of(blocks)
    if yard is None:
        return None
    tops = _best(yard, bound, work)
    return (
        yard.as_given(tops - yard.sizes) if pool.capacity_bytes is None or tops.max() <= pool.capacity_bytes else None
    )


def _best(yard: Yard, bound: int, work: int) -> Numbers:
    """Where the blocks end in the lowest plan."""
    count, make = len(yard.sizes), NativeSearch if extension() else PythonSearch
    windows = Windows(yard=yard, make=make, left=max(work - count, count))
    best = tops = order = np.empty(0, dtype=np.int64)
    for number, tried in enumerate(_orders(yard, work)):
        if number and windows.left < count:
            return best
        windows.left -= count if number else 0
        placed = yard.placed(tried)
        if not number or placed.max() < tops.max():
            tops, order = placed, tried
        best = _lower(best, windows.lowered(placed, bound))
        if best.max() <= bound:
            return best
    while windows.left >= count and best.max() > bound:
        windows.left -= count
        high = tops[order] > bound
        order = np.concatenate((order[high], order[~high]))
        tops = yard.placed(order)
        best = _lower(best, tops)
    return best


def _orders(yard: Yard, work: int) -> Iterator[Numbers]:
    """That of the skyline first, which takes longest, where there is work for it."""
    if work >= 2 * len(yard.sizes):
        yield yard.by_skyline()
    yield from yard.orders()


def _lower(one: Numbers, other: Numbers) -> Numbers:
    """The first where they are equal; an empty one is none."""
    return one if len(one) and one.max() <= other.max() else other
