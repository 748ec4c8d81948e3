"""Knows how tilings of one space are found: the fastest, the first of a strategy about sizes that fits, and those that
are faster than all that take less.
Does not know which sizes and orders there are (`grid`), what they take (`tiling_problem`), several steps, nor targets.

Sizes are taken in the order of their number of tiles. What a size can cost at best, the whole step's computation and
the price of a call for each tile, is known at once, so most sizes are left out unseen. Costs here are sums over all
tiles of averages between the same loops; `region_cost` simulates the chosen ones exactly.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tilewright.ir.plans.tiler import Buffering
from tilewright.tile.cost.kernel_costs import tile_cycles
from tilewright.tile.cost.lower_bounds import WORTH, LeastCopies, least_copies, score_bounds
from tilewright.tile.cost.tiling_problem import TilingProblem
from tilewright.tile.search.loop_orders import EstimatedTiling, LoopOrders
from tilewright.tile.space.grid import orders, tile_counts
from tilewright.tile.space.split_reductions import is_split
from tilewright.tile.space.tiling_space import TilingSpace

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.tile.search.loop_orders import Priced

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_MOST_IN_PARTS = 768  # sizes that cut reductions, those that might be best: floors are low where kernels dislike parts
_FIRST_CHUNK, _CHUNK = 8, 64  # sizes looked at together: few at first, they may be all that is needed
_CHUNK = 96  # sizes looked at together
_NEAR_THE_FASTEST = 8  # more tilings than the front has, fast ones: the exact clock may order them otherwise


class TilingSearch(TilingProblem):
    """The tilings of one space."""

    def best(self, beat: EstimatedTiling | None = None) -> EstimatedTiling | None:
        """The fastest tiling that fits, traffic counted a little. None: none fits.

        Where reductions may be cut, one that does; none that is not clearly better than `beat`, which cuts none.
        """
        fits = self.least_of_buffers() <= self.available_bytes
        if self.space.sums is not None:
            fits &= is_split(self.space, self.points)
        if not fits.any():
            return None
        limit = float("inf") if beat is None else beat.score * (1 - WORTH)
        points = self.points[fits]
        copies = least_copies(self.space, points, self.table)
        floor = score_bounds(self.space, points, copies)
        order = np.argsort(floor, kind="stable")[: None if self.space.sums is None else _MOST_IN_PARTS]
        points, floor, copies = points[order], floor[order], copies.at(order)
        best: EstimatedTiling | None = None
        start, count = 0, _FIRST_CHUNK
        while start < (end := np.searchsorted(floor, limit)):
            here = slice(start, min(start + count, int(end)))
            chunk = self._below(limit, points[here], copies.at(here))
            tiling = self.together(chunk).best(limit) if len(chunk) else None
            if tiling is not None and tiling.score < limit:
                best, limit = tiling, tiling.score
            start, count = start + count, min(2 * count, _CHUNK)
        return best

    def _below(self, limit: float, points: Integers, copies: LeastCopies) -> Integers:
        """Those of the points whose calls and least copies may score less; cheap looks first."""
        for computes in (self.whole_computes, self.computes):
            near = copies.scored(self.space, computes(points)) < limit
            points, copies = points[near], copies.at(near)
        return points

    @cached_property
    def _orders(self) -> tuple[tuple[int, ...], ...]:
        return tuple(orders(self.space))

    def at(self, number: int) -> EstimatedTiling | None:
        """The fastest tiling with the sizes of one point of the grid; None where it does not fit."""
        return self.together(self.points[number : number + 1]).best()

    def together(self, points: Integers) -> LoopOrders:
        """`points` with all orders of loops."""
        return LoopOrders(self, self._orders, points, self.computes(points), self.scratches(points), {})

    def ordered(self, points: Integers) -> Iterator[LoopOrders]:
        """The same for one order after the other."""
        computes, scratch = self.computes(points), self.scratches(points)
        priced: Priced = {}
        for order in self._orders:
            yield LoopOrders(self, (order,), points, computes, scratch, priced)


def first_fitting(
    space: TilingSpace,
    buffering: Buffering,
    strategy: Literal["min", "max", "random-max"],
    seed: int,
    beat: EstimatedTiling | None = None,
) -> EstimatedTiling | None:
    """The first sizes in the strategy's order that fit; None where none do, or none is better than `beat`, which cuts
    no reduction: smaller; nothing has larger tiles.
    """
    search = TilingSearch(space, buffering)
    if strategy == "min":
        most = search.available_bytes if beat is None else beat.used_bytes - 1
        return _smallest(search, most)
    if beat is not None:
        return None
    least = search.least_bytes()
    if strategy == "max":
        order = np.lexsort((-least, tile_counts(space, search.points)))
    else:
        order = _outwards(search, random.Random(seed))
    for number in order[least[order] <= search.available_bytes]:
        tiling = search.at(int(number))
        if tiling is not None:
            return tiling
    return None


def smallest_bytes(space: TilingSpace, buffering: Buffering) -> int:
    """Bytes of scratchpad that some legal tiling gets by with; 0 where no tiling is legal."""
    search = TilingSearch(replace(space, available_bytes=None), buffering)
    least = search.least_bytes()
    for number in least.argsort(kind="stable"):
        if at_least(search, int(number), int(least[number])) is not None:
            return int(least[number])
    return 0


def _smallest(search: TilingSearch, most: float) -> EstimatedTiling | None:
    """The tiling that takes least of the scratchpad, at most `most`; of equals the one with the fewest tiles."""
    least = search.least_bytes()
    for number in np.lexsort((tile_counts(search.space, search.points), least)):
        if least[number] > most:
            return None
        tiling = at_least(search, int(number), int(least[number]))
        if tiling is not None:
            return tiling
    return None


def at_least(search: TilingSearch, number: int, available_bytes: int) -> EstimatedTiling | None:
    """The fastest tiling with one point's sizes that takes no more than this; None where there is none."""
    return TilingSearch(replace(search.space, available_bytes=available_bytes), search.buffering, search.tables).at(
        number
    )


def _outwards(search: TilingSearch, chance: random.Random) -> npt.NDArray[np.intp]:
    """Sizes by a weighted volume whose exponents are drawn: every drawing prefers other directions."""
    weights = np.array([chance.random() for _ in search.space.cuts]).reshape(1, -1)
    volume = (np.log(np.maximum(search.points, 1)) * weights).sum(axis=1)
    return np.argsort(-volume, kind="stable")


def pareto_tilings(
    search: TilingSearch, most: int, beat: Sequence[EstimatedTiling] = ()
) -> tuple[EstimatedTiling, ...]:
    """At most `most` tilings, the smallest first, and a few near the fastest; none where nothing fits.

    Each is faster than all that take no more of the scratchpad. Of too many, those are left out that gain least.
    Where reductions may be cut, those that cut one, clearly faster than all of `beat` that take no more.
    """
    front, space = _ParetoFront(beat), search.space
    calls = space.engine.call_cycles * (tile_counts(space, search.points) - 1)
    floor, least = tile_cycles(space, space.extents) + calls, search.least_bytes()
    fits = least <= search.available_bytes
    if space.sums is not None:
        fits &= is_split(space, search.points)
    fitting = np.flatnonzero(fits)
    for start in range(0, len(fitting), _CHUNK):
        chunk = fitting[start : start + _CHUNK]
        chunk = chunk[floor[chunk] < front.best(least[chunk])]
        for order in search.ordered(search.points[chunk]) if len(chunk) else ():
            front.enter(order)
    return tuple({id(tiling): tiling for tiling in [*_thinned(front.found(), most), *front.fast]}.values())


class _ParetoFront:
    """Tilings by the bytes that they take, each faster than those before it; clearly faster than those of `beat`."""

    def __init__(self, beat: Sequence[EstimatedTiling]) -> None:
        self.beat: list[EstimatedTiling] = []
        for tiling in sorted(beat, key=lambda tiling: (tiling.used_bytes, tiling.cycles)):
            if not self.beat or tiling.cycles * (1 - WORTH) < self.beat[-1].cycles:
                self.beat.append(replace(tiling, cycles=tiling.cycles * (1 - WORTH)))
        self.all = list(self.beat)
        self.fast: list[EstimatedTiling] = []

    def found(self) -> list[EstimatedTiling]:
        """Those that have been entered."""
        return [tiling for tiling in self.all if all(tiling is not beaten for beaten in self.beat)]

    def best(self, used: Numbers) -> Numbers:
        """Cycles of the fastest that takes no more than each of `used`."""
        sizes = np.array([tiling.used_bytes for tiling in self.all])
        cycles = np.array([np.inf, *(tiling.cycles for tiling in self.all)])
        best: Numbers = cycles[np.searchsorted(sizes, used, side="right")]
        return best

    def enter(self, order: LoopOrders) -> None:
        """All copy levels and buffer counts of some sizes in one order."""
        for twice, used in order.doublings():
            legal = order.legal(used)
            if not legal.any():
                return  # more buffers take more
            cycles = np.where(legal, order.cycles(twice), np.inf)
            sizes, moved = np.broadcast_to(used, cycles.shape), np.broadcast_to(order.moved, cycles.shape)
            good = np.flatnonzero(cycles < self.best(sizes))
            for index in good[_smaller_and_smaller(cycles.flat[good], moved.flat[good], sizes.flat[good])].tolist():
                at = np.unravel_index(index, cycles.shape)
                below = bisect_right(self.all, float(sizes[at]), key=_used)
                if not below or cycles[at] < self.all[below - 1].cycles:
                    self._insert(order.found(at, twice, cycles))

    def _insert(self, new: EstimatedTiling) -> None:
        less = bisect_left(self.all, new.used_bytes, key=_used)
        self.all[less:] = [new, *(tiling for tiling in self.all[less:] if tiling.cycles < new.cycles)]
        fast = sorted([*self.fast, new], key=lambda tiling: (tiling.cycles, tiling.moved_bytes))
        self.fast = fast[:_NEAR_THE_FASTEST]


def _smaller_and_smaller(cycles: Numbers, moved: Numbers, sizes: Numbers) -> npt.NDArray[np.intp]:
    """From the fastest on, what takes less than all that are faster; of equally fast ones that which moves least."""
    order = np.lexsort((moved, cycles))
    least = np.minimum.accumulate(sizes[order])
    kept: npt.NDArray[np.intp] = order[np.concatenate([[True], sizes[order][1:] < least[:-1]])[: len(order)]]
    return kept


def _used(tiling: EstimatedTiling) -> float:
    return tiling.used_bytes


def _thinned(front: Sequence[EstimatedTiling], most: int) -> list[EstimatedTiling]:
    """At most `most` of them: the smallest, the fastest, and those that gain most over what is kept below."""
    gain = 0.0
    kept = list(front)
    while len(kept) > most:
        gain = max(2 * gain, 1e-4)
        kept = list(front[:1])
        for tiling in front[1:-1]:
            if tiling.cycles <= kept[-1].cycles * (1 - gain):
                kept.append(tiling)
        kept.append(front[-1])
    return kept
