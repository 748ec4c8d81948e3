"""Knows tile sizes chosen without a cost: the smallest, the largest, the largest in random directions.
Does not know which of them is fast; copy levels and buffer counts for the chosen sizes are still the best ones.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewright.ir.plans.tiler import Buffering
from tilewright.tile.search.loop_orders import EstimatedTiling
from tilewright.tile.search.tiling_search import TilingSearch
from tilewright.tile.space.grid import tile_counts
from tilewright.tile.space.tiling_space import TilingSpace


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
        found = search.at(int(number))
        if found is not None:
            return found
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
        found = at_least(search, int(number), int(least[number]))
        if found is not None:
            return found
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
