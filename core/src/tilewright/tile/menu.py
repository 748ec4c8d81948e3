"""Knows every tiling of one step over one hop that is worth having: faster than all that take no more near memory.
Does not know which of them a plan takes, nor several steps.

`search` finds the best tiling for one amount of near memory; here are the best ones for every amount up to the room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.tile.cost import tile_cycles
from tilewright.tile.grid import orders, tile_counts
from tilewright.tile.order import Found, Order, total_of
from tilewright.tile.search import Search

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]

_CHUNK = 96  # sizes looked at together
_NEAR_THE_FASTEST = 8  # more tilings than the staircase has, fast ones: the exact clock may order them otherwise


@dataclass(frozen=True, slots=True)
class _Entry:
    """A tiling and what it takes, by the search's estimate."""

    used_bytes: float
    cycles: float
    moved_bytes: float
    order: int  # of `orders`
    point: int  # of the grid
    at: tuple[int, ...]
    doubled: int  # how many operands have two buffers, those that gain most per byte


def menu(search: Search, most: int) -> tuple[Found, ...]:
    """At most `most` tilings, and a few near the fastest; none where nothing fits.

    Each is faster than all that take no more of the near memory. Of too many, those are left out that gain least.
    """
    return _Menu(search).found(most)


class _Menu:
    """The staircase of one search: entries by bytes, each faster than those before it."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.stairs: list[_Entry] = []
        self.fast: list[_Entry] = []
        self.orders = list(orders(search.space))

    def found(self, most: int) -> tuple[Found, ...]:
        search = self.search
        call = search.space.engine.call_cycles
        floor = tile_cycles(search.space, search.space.extents) - call + call * tile_counts(search.space, search.points)
        least = search.least_bytes()
        open_points = np.flatnonzero(least <= search.room)
        while len(open_points):
            chunk, open_points = open_points[:_CHUNK], open_points[_CHUNK:]
            chunk = chunk[floor[chunk] < self._best(least[chunk])]
            if len(chunk):
                self._look(chunk)
        chosen = dict.fromkeys([*_thinned(self.stairs, most), *self.fast])
        return tuple(self._as_found(entry) for entry in chosen)

    def _best(self, used: Numbers) -> Numbers:
        """Cycles of the fastest entry that takes no more than each of `used`."""
        if not self.stairs:
            return np.full(len(used), np.inf)
        bytes_of = np.array([entry.used_bytes for entry in self.stairs])
        cycles = np.array([np.inf, *(entry.cycles for entry in self.stairs)])
        best: Numbers = cycles[np.searchsorted(bytes_of, used, side="right")]
        return best

    def _look(self, chunk: npt.NDArray[np.intp]) -> None:
        points = self.search.points[chunk]
        computes, scratch = self.search.computes(points), self.search.scratches(points)
        for number, order in enumerate(self.orders):
            self._enter(Order(self.search, order, points, computes, scratch), number, chunk)

    def _enter(self, order: Order, number: int, chunk: npt.NDArray[np.intp]) -> None:
        moved = total_of([choice.moved for choice in order.choices])
        for doubled, (twice, used) in enumerate(order.doublings()):
            bytes_used = used + order.scratch
            legal = order.legal(bytes_used)
            if not legal.any():
                return  # more buffers take more
            cycles = np.where(legal, order.cycles(twice), np.inf)
            shape = cycles.shape
            flat, flat_used = cycles.reshape(-1), np.broadcast_to(bytes_used, shape).reshape(-1)
            flat_moved = np.broadcast_to(moved, shape).reshape(-1)
            good = np.flatnonzero(flat < self._best(flat_used))
            for index in good[np.lexsort((flat_moved[good], flat[good]))][:64].tolist():
                at = tuple(int(part) for part in np.unravel_index(index, shape))
                entry = _Entry(
                    float(flat_used[index]), float(flat[index]), float(flat_moved[index]), number,
                    int(chunk[at[-1]]), at[:-1], doubled,
                )  # fmt: skip
                self._insert(entry)

    def _insert(self, entry: _Entry) -> None:
        before = [other for other in self.stairs if other.used_bytes <= entry.used_bytes]
        if before and before[-1].cycles <= entry.cycles:
            return
        after = [o for o in self.stairs if o.used_bytes > entry.used_bytes and o.cycles < entry.cycles]
        kept = [other for other in before if other.used_bytes < entry.used_bytes]
        self.stairs = [*kept, entry, *after]
        self.fast = sorted([*self.fast, entry], key=lambda one: (one.cycles, one.moved_bytes))[:_NEAR_THE_FASTEST]

    def _as_found(self, entry: _Entry) -> Found:
        points = self.search.points[entry.point : entry.point + 1]
        computes, scratch = self.search.computes(points), self.search.scratches(points)
        order = Order(self.search, self.orders[entry.order], points, computes, scratch)
        twice, _ = list(order.doublings())[entry.doubled]
        return order.found((*entry.at, 0), twice, (entry.cycles, entry.moved_bytes, entry.cycles))


def _thinned(stairs: Sequence[_Entry], most: int) -> list[_Entry]:
    """At most `most` of the entries: the smallest, the fastest, and those that gain most over what is kept below."""
    gain = 0.0
    kept = list(stairs)
    while len(kept) > most:
        gain = max(2 * gain, 1e-4)
        kept = list(stairs[:1])
        for entry in stairs[1:-1]:
            if entry.cycles <= kept[-1].cycles * (1 - gain):
                kept.append(entry)
        kept.append(stairs[-1])
    return kept
