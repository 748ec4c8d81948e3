"""Knows every tiling of one step over one hop that is worth having: faster than all that take no more scratchpad.
Does not know which of them a plan takes, nor several steps.

`search` finds the best tiling for one amount of scratchpad; here are the best ones for every amount up to the room.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.tile.cost.kernel_costs import tile_cycles
from tilewright.tile.cost.lower_bounds import WORTH
from tilewright.tile.search.loop_orders import EstimatedTiling, LoopOrders
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.grid import tile_counts
from tilewright.tile.space.split_reductions import is_split

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_CHUNK = 96  # sizes looked at together
_NEAR_THE_FASTEST = 8  # more tilings than the front has, fast ones: the exact clock may order them otherwise


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
    return tuple({id(found): found for found in [*_thinned(front.found(), most), *front.fast]}.values())


class _ParetoFront:
    """Tilings by the bytes that they take, each faster than those before it; clearly faster than those of `beat`."""

    def __init__(self, beat: Sequence[EstimatedTiling]) -> None:
        self.beat: list[EstimatedTiling] = []
        for one in sorted(beat, key=lambda found: (found.used_bytes, found.cycles)):
            if not self.beat or one.cycles * (1 - WORTH) < self.beat[-1].cycles:
                self.beat.append(replace(one, cycles=one.cycles * (1 - WORTH)))
        self.all = list(self.beat)
        self.fast: list[EstimatedTiling] = []

    def found(self) -> list[EstimatedTiling]:
        """Those that have been entered."""
        return [found for found in self.all if all(found is not one for one in self.beat)]

    def best(self, used: Numbers) -> Numbers:
        """Cycles of the fastest that takes no more than each of `used`."""
        sizes = np.array([found.used_bytes for found in self.all])
        cycles = np.array([np.inf, *(found.cycles for found in self.all)])
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
        self.all[less:] = [new, *(found for found in self.all[less:] if found.cycles < new.cycles)]
        fast = sorted([*self.fast, new], key=lambda found: (found.cycles, found.moved_bytes))
        self.fast = fast[:_NEAR_THE_FASTEST]


def _smaller_and_smaller(cycles: Numbers, moved: Numbers, sizes: Numbers) -> npt.NDArray[np.intp]:
    """From the fastest on, what takes less than all that are faster; of equally fast ones that which moves least."""
    order = np.lexsort((moved, cycles))
    least = np.minimum.accumulate(sizes[order])
    kept: npt.NDArray[np.intp] = order[np.concatenate([[True], sizes[order][1:] < least[:-1]])[: len(order)]]
    return kept


def _used(found: EstimatedTiling) -> float:
    return found.used_bytes


def _thinned(front: Sequence[EstimatedTiling], most: int) -> list[EstimatedTiling]:
    """At most `most` of them: the smallest, the fastest, and those that gain most over what is kept below."""
    gain = 0.0
    kept = list(front)
    while len(kept) > most:
        gain = max(2 * gain, 1e-4)
        kept = list(front[:1])
        for one in front[1:-1]:
            if one.cycles <= kept[-1].cycles * (1 - gain):
                kept.append(one)
        kept.append(front[-1])
    return kept
