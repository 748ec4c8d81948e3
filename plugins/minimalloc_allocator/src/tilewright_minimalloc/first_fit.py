"""Knows how very many blocks are placed: several orders, each block at its lowest free offset, and what is too high
then in a window of its own; and each order again and again, with those in front that came to lie too high.
Does not know where C is missing, or a pool is more than blocks with one lifetime each: there the answer is None.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tilewright.api.allocator import Block, Place, Pool, Problem
from tilewright_minimalloc.native import NativeSearch, extension
from tilewright_minimalloc.search import PythonSearch
from tilewright_minimalloc.windows import Windows
from tilewright_minimalloc.yard import Numbers, Yard, yard_of

_UNDER = 0.5  # part of the bound, from which on what the highest block meets is placed again with it


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
    """Where the blocks end in the lowest plan. Each order is mended as long as that helps; then the best one, from ever
    other changes, until the work is done or the bound is met.
    """
    count, make = len(yard.sizes), NativeSearch if extension() else PythonSearch
    repair = _Repair(yard=yard, bound=bound, windows=Windows(yard=yard, make=make, left=max(work - count, count)))
    for number, order in enumerate(yard.orders(skyline=work >= 2 * count)):
        if not repair.tried(order, free=not number):
            return repair.best
        while repair.windows.left >= count and repair.mended(_UNDER):
            pass
        if repair.best.max() <= bound:
            return repair.best
    repair.tops, repair.order, chance = repair.lowest, repair.lowest_order, random.Random(0)
    while repair.windows.left >= count and repair.best.max() > bound:
        repair.mended(chance.random())
    return repair.best


@dataclass(slots=True, kw_only=True)
class _Repair:
    """An order that is changed where blocks come to lie too high, and the lowest of all plans so far."""

    yard: Yard
    bound: int
    windows: Windows
    best: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    lowest: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))  # of those placed in one order
    lowest_order: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    tops: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    order: Numbers = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def tried(self, order: Numbers, *, free: bool) -> bool:
        """With all blocks placed in another order, and what is too high searched for; whether there was work left."""
        count = len(self.yard.sizes)
        if not free and self.windows.left < count:
            return False
        self.windows.left -= 0 if free else count
        self._take(self.yard.placed(order), order)
        self.best = _lower(self.best, self.windows.lowered(self.tops, self.bound))
        return True

    def mended(self, under: float) -> bool:
        """With all that is too high in front, then what the highest one meets from a part `under` of the bound on;
        where that is no lower, without the latter. Whether one is lower; else the order stays.
        """
        high = self.tops > self.bound
        top = int(self.tops.argmax())
        meets = (self.yard.births <= self.yard.deaths[top]) & (self.yard.deaths >= self.yard.births[top])
        starts = self.tops - self.yard.sizes
        for near in (meets & (starts > under * self.bound) & ~high, np.zeros_like(high)):
            if self.windows.left < len(high) or not high.any():
                return False
            self.windows.left -= len(high)
            parts = (high[self.order], near[self.order])
            order = np.concatenate((self.order[parts[0]], self.order[parts[1]], self.order[~(parts[0] | parts[1])]))
            tops, before = self.yard.placed(order), self.tops.max()
            if tops.max() < before:
                self._take(tops, order)
                return True
        return False

    def _take(self, tops: Numbers, order: Numbers) -> None:
        self.tops, self.order = tops, order
        self.best = _lower(self.best, tops)
        if not len(self.lowest) or tops.max() < self.lowest.max():
            self.lowest, self.lowest_order = tops, order


def _lower(left: Numbers, right: Numbers) -> Numbers:
    """The first where they are equal; an empty one is none."""
    return left if len(left) and left.max() <= right.max() else right
