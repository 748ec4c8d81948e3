"""Knows how the tiles of one step are found: sizes worth trying, useful orders of loops, copy levels, buffer counts.
Does not know which sizes and orders there are (`grid`), what they take (`problem`), several steps, nor platforms.

Sizes are taken in the order of their number of tiles. What a size can cost at best, the whole step's computation and
the price of a call for each tile, is known at once, so most sizes are left out unseen. Costs here are sums over all
tiles of averages between the same loops; `cost` plays the chosen ones exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tilewright.tile.cost.lower_bounds import WORTH, LeastCopies, least_copies, score_bounds
from tilewright.tile.cost.tiling_problem import TilingProblem
from tilewright.tile.search.loop_orders import EstimatedTiling, LoopOrders
from tilewright.tile.space.grid import orders
from tilewright.tile.space.split_reductions import is_split

if TYPE_CHECKING:
    import numpy.typing as npt

    from tilewright.tile.search.loop_orders import Priced

    Numbers = npt.NDArray[np.float64]
    Integers = npt.NDArray[np.int64]

_MOST_IN_PARTS = 768  # sizes that cut reductions, those that might be best: floors are low where kernels dislike parts
_FIRST_CHUNK, _CHUNK = 8, 64  # sizes looked at together: few at first, they may be all that is needed


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
            found = self.together(chunk).best(limit) if len(chunk) else None
            if found is not None and found.score < limit:
                best, limit = found, found.score
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
