"""Knows tile sizes chosen without a cost: the smallest, the largest, the largest in random directions.
Does not know which of them is fast; depths and buffers for the chosen sizes are still the best ones.
"""

from __future__ import annotations

import random
from typing import Literal

import numpy as np

from tilewright.tile.search import Buffering, Found, Search, tile_counts
from tilewright.tile.space import Space

_CHUNK = 64


def pick(space: Space, buffering: Buffering, strategy: Literal["min", "max", "random-max"], seed: int) -> Found | None:
    """The first sizes in the strategy's order that fit; None where none do."""
    search = Search(space, buffering)
    least = search.least_bytes()
    if strategy == "min":
        order = np.lexsort((-tile_counts(space, search.points), least))
    elif strategy == "max":
        order = np.lexsort((-least, tile_counts(space, search.points)))
    else:
        order = _outwards(search, random.Random(seed))
    order = order[least[order] <= search.room]
    for start in range(0, len(order), _CHUNK):
        for number in order[start : start + _CHUNK]:
            found = [one for one in search.candidates(search.points[number : number + 1])]
            if found:
                return min(found, key=lambda one: (one.cycles, one.moved_bytes))
    return None


def _outwards(search: Search, chance: random.Random) -> np.ndarray:
    """Sizes by a weighted volume whose exponents are drawn: every drawing prefers other directions."""
    weights = np.array([chance.random() for _ in search.space.cuts]).reshape(1, -1)
    volume = (np.log(np.maximum(search.points, 1)) * weights).sum(axis=1)
    return np.argsort(-volume, kind="stable")
