"""Knows how a plan of very many blocks is made lower: where one ends too high, what lives around that time is placed
anew by the exact search, and all others stay. Does not know how the plan was made.

Of very many blocks few are ever too high, at a few moments, and around these stand a few hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tilewright.api.allocator import Block, Pool, Problem
from tilewright_minimalloc.pool import make_task
from tilewright_minimalloc.portfolio import MakeSearch, fit
from tilewright_minimalloc.search import Outcome
from tilewright_minimalloc.yard import Numbers, Yard

_NODES = 3  # of a search, for each block of its window
_UNITS = 4  # of work for a node: so many blocks are placed by first fit in the time of one
_MOST_BLOCKS = 2_000  # of a window
_MOST_FAILURES = 2  # then what is too high stays
_POOL = "window"


@dataclass(slots=True, kw_only=True)
class Windows:
    """The blocks, and how much work is left, in blocks placed by first fit."""

    yard: Yard
    make: MakeSearch
    left: int

    def lowered(self, tops: Numbers, bound: int) -> Numbers:
        """Where the blocks end then: under the bound, or as far above it as halving finds out."""
        tops, aim, failed, failures = tops.copy(), bound, bound - 1, 0
        while failures < _MOST_FAILURES and self.left > 0:
            highest = int(tops.argmax())
            if tops[highest] > aim and not any(self._fits(tops, window, aim) for window in self._around(highest)):
                failed, failures = aim, failures + 1
            if tops.max() <= aim or failed == aim:
                aim = (failed + int(tops.max()) + 1) // 2
            if aim >= tops.max():
                break
        return tops

    def _around(self, block: int) -> Iterator[tuple[int, int]]:
        """Ever longer times, from about as many births to either side as the block meets others, times two."""
        births, deaths, until = self.yard.births, self.yard.deaths, int(self.yard.until[block])
        first = int(np.searchsorted(births, births[block]))
        reach = int(np.count_nonzero(deaths[:until] >= births[block]))
        while self.left > 0 and reach < len(births):
            reach *= 2
            yield int(births[max(first - reach, 0)]), int(births[min(until + reach, len(births)) - 1])

    def _fits(self, tops: Numbers, window: tuple[int, int], aim: int) -> bool:
        """Whether what lives inside the window can be placed under `aim`; then it is."""
        low, high = window
        alive = np.flatnonzero(self.yard.deaths[: np.searchsorted(self.yard.births, high, "right")] >= low)
        free = (self.yard.births[alive] >= low) & (self.yard.deaths[alive] <= high)
        others = alive[~free]
        if len(alive) > _MOST_BLOCKS or tops[others].max(initial=0) > aim:
            return False
        problem = self._problem(alive.tolist(), free.tolist(), tops, aim)
        task = make_task(problem, problem.pools[0], problem.blocks)
        limit = min(_NODES * len(alive), self.left // _UNITS + 1)
        outcome, nodes, offsets = fit(task.instance, aim // task.instance.grain, limit, make=self.make)
        self.left -= _UNITS * (len(alive) + nodes)
        if outcome != Outcome.SOLVED:
            return False
        moved = alive[free]
        tops[moved] = np.array(offsets, dtype=np.int64) * task.instance.grain + self.yard.sizes[moved]
        return True

    def _problem(self, alive: list[int], free: list[bool], tops: Numbers, aim: int) -> Problem:
        """The blocks of a window, those that reach beyond it where they are."""
        yard = self.yard
        columns = (column[alive] for column in (yard.sizes, yard.aligns, yard.births, yard.deaths, tops))
        rows = zip(alive, free, *(column.tolist() for column in columns), strict=True)
        blocks = tuple(
            Block(
                name=str(number),
                size_bytes=size,
                align=align,
                lifetimes=((birth, death),),
                pools=(_POOL,),
                fixed_offset=None if moves else top - size,
            )
            for number, moves, size, align, birth, death, top in rows
        )
        return Problem(blocks=blocks, pools=(Pool(name=_POOL, capacity_bytes=aim),))
