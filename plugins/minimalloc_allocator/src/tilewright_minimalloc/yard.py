"""Knows very many blocks as columns of numbers, the orders in which they are worth placing, and how C places them.
Does not know pools, names or any search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.api.allocator import Block

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Yard:
    """Blocks with one lifetime each, in the order in which they are born; `number` is their place as given."""

    first_fit: Callable[..., bytes]  # the compiled functions
    skyline: Callable[..., bytes]
    number: Numbers
    sizes: Numbers
    aligns: Numbers
    births: Numbers  # first and last moment, as given
    deaths: Numbers
    firsts: (
        Numbers  # the same in births, numbered from 0 without gaps: the first one, the last one that it lives to see
    )
    lasts: Numbers
    until: Numbers  # how many blocks are born before this one is dead

    def placed(self, order: Numbers) -> Numbers:
        """Where each block ends, if they are placed in this order."""
        columns = (self.sizes, self.aligns, self.firsts, self.lasts, self.until, order)
        result = self.first_fit(*(column.tobytes() for column in columns))
        return np.frombuffer(result, dtype=np.int64).reshape(-1, 2)[:, 1]

    def as_given(self, column: Numbers) -> Numbers:
        """A column of the blocks as they were given."""
        result = np.empty_like(column)
        result[self.number] = column
        return result

    def orders(self, *, skyline: bool) -> Iterator[Numbers]:
        """Those that meet most others first; then the largest; the lowest on a skyline, which takes long, if asked for;
        then the largest in bytes times time.
        """
        life = self.deaths - self.births + 1
        dead_before_start = np.searchsorted(np.sort(self.deaths), self.births, "left")
        yield np.lexsort((self.number, -self.sizes, dead_before_start - self.until))
        yield np.lexsort((self.number, -life, -self.sizes))
        if skyline:
            yield self.by_skyline()
        yield np.lexsort((self.number, -self.sizes * life))

    def by_skyline(self) -> Numbers:
        """Lowest first, as `tilewright.api.allocator.stack` places them: in this order no block comes to lie higher."""
        rank = np.lexsort((self.number, -self.sizes, self.births - self.deaths))
        columns = (column[rank] for column in (self.sizes, self.aligns, self.firsts, self.lasts))
        offsets = np.frombuffer(
            self.skyline(1 + int(self.firsts[-1]), *(column.tobytes() for column in columns)), dtype=np.int64
        )
        return rank[np.argsort(offsets, kind="stable")]


def yard_of(blocks: Sequence[Block]) -> Yard | None:
    """The blocks, ready to be placed; None without the compiled extension."""
    try:
        from tilewright_minimalloc import _first_fit, _skyline
    except ImportError:
        return None
    lives = np.array([block.lifetimes[0] for block in blocks], dtype=np.int64)
    number = np.argsort(lives[:, 0], kind="stable")
    births, deaths = lives[number, 0], lives[number, 1]
    moments = np.unique(births)
    return Yard(
        first_fit=_first_fit.first_fit,
        skyline=_skyline.skyline,
        number=number,
        sizes=np.array([block.size_bytes for block in blocks], dtype=np.int64)[number],
        aligns=np.array([block.align for block in blocks], dtype=np.int64)[number],
        births=births,
        deaths=deaths,
        firsts=np.searchsorted(moments, births),
        lasts=np.searchsorted(moments, deaths, "right") - 1,
        until=np.searchsorted(births, deaths, "right"),
    )
