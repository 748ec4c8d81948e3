"""Knows how very many blocks are placed: several orders, each block at its lowest free offset; then the best order
again and again, with those in front that came to lie too high. Does not search. The placing is in C; where that was not
built, or where a pool is more than blocks with one lifetime each, the answer is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from tilewright.api.allocator import Block, Place, Pool, Problem

Numbers = NDArray[np.int64]


def first_fit(problem: Problem, bounds: dict[str, int], work: int) -> dict[str, Place] | None:
    """Every block in its first pool; None where that cannot be, or the pools are too small for it.

    Three orders are tried in any case, others as long as `work` blocks of each pool are not yet placed.
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
    return tops - yard.sizes if pool.capacity_bytes is None or tops.max() <= pool.capacity_bytes else None


def _best(yard: Yard, bound: int, work: int) -> Numbers:
    """Where the blocks end in the lowest plan."""
    best = order = np.empty(0, dtype=np.int64)
    for tried in yard.orders():
        tops = yard.placed(tried)
        if not len(best) or tops.max() < best.max():
            best, order = tops, tried
        work -= len(order)
        if best.max() <= bound:
            return best
    tops = best
    while work >= len(order) and best.max() > bound:
        high = tops[order] > bound
        order = np.concatenate((order[high], order[~high]))
        tops = yard.placed(order)
        best = min(best, tops, key=np.max)
        work -= len(order)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Yard:
    """Blocks with one lifetime each, as columns, and the extension that places them."""

    extension: ModuleType
    sizes: Numbers
    aligns: Numbers
    births: Numbers  # first and last moment, as given
    deaths: Numbers
    moments: int  # how many different ones
    firsts: Numbers  # the same, numbered from 0 without gaps
    lasts: Numbers

    def placed(self, order: Numbers) -> Numbers:
        """Where each block ends, if they are placed in this order."""
        columns = (self.sizes, self.aligns, self.firsts, self.lasts, order)
        found = self.extension.first_fit(self.moments, *(column.tobytes() for column in columns))
        return np.frombuffer(found, dtype=np.int64) + self.sizes

    def orders(self) -> Iterator[Numbers]:
        """Largest first; then largest in bytes times time; then those that meet most others."""
        life = self.deaths - self.births + 1
        yield np.lexsort((-life, -self.sizes))
        yield np.lexsort((-self.sizes * life,))
        born_before_end = np.searchsorted(np.sort(self.births), self.deaths, "right")
        dead_before_start = np.searchsorted(np.sort(self.deaths), self.births, "left")
        yield np.lexsort((-self.sizes, dead_before_start - born_before_end))


def yard_of(blocks: Sequence[Block]) -> Yard | None:
    """The blocks, ready to be placed; None without the compiled extension."""
    try:
        from tilewright_minimalloc import _first_fit
    except ImportError:
        return None
    births, deaths = (_column(block.lifetimes[0][end] for block in blocks) for end in (0, 1))
    moments, numbered = np.unique(np.concatenate((births, deaths)), return_inverse=True)
    firsts, lasts = np.split(numbered.reshape(-1).astype(np.int64), 2)
    return Yard(
        extension=_first_fit,
        sizes=_column(block.size_bytes for block in blocks),
        aligns=_column(block.align for block in blocks),
        births=births,
        deaths=deaths,
        moments=len(moments),
        firsts=firsts,
        lasts=lasts,
    )


def _column(numbers: Iterable[int]) -> Numbers:
    return np.fromiter(numbers, dtype=np.int64)
