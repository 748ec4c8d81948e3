"""Knows what there is to choose from before anything is priced: sizes of tiles, and orders of loops that may differ.
Does not know costs, copy levels or buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.access.index_map import Loop
from tilewright.ir.rounding import ceil_div
from tilewright.tile.space.tiling_space import TilingSpace, sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

_MOST_POINTS = 20_000
_MOST_ORDERS = 24
_STEP = 0.75  # from one extent of a part of a reduction to the next


def grid(space: TilingSpace, most: int = _MOST_POINTS) -> Integers:
    """Every combination of tile sizes, or at most `most` of them, as [points, loops], fewest tiles first."""
    choices = [_sizes(space, loop) for loop in space.cuts]
    while np.prod([len(choice) for choice in choices], dtype=float) > max(most, 1):
        longest = max(range(len(choices)), key=lambda index: len(choices[index]))
        choices[longest] = _thinned(choices[longest])
    if not choices:
        return np.zeros((1, 0), np.int64)
    points = np.stack(np.meshgrid(*(np.array(choice) for choice in choices), indexing="ij"), -1)
    points = points.reshape(-1, len(choices))
    return points[np.argsort(tile_counts(space, points), kind="stable")]


def _thinned(choice: tuple[int, ...]) -> tuple[int, ...]:
    """Every second size, the largest and the smallest among them; of two the smaller, which needs less memory."""
    if len(choice) == 2:
        return choice[1:]
    return (*choice[:-1:2], choice[-1]) if len(choice) % 2 == 0 else choice[::2]


def _sizes(space: TilingSpace, loop: Loop) -> tuple[int, ...]:
    """Extents of tiles of one loop, largest first. Of a reduction few: more parts only make room for other tiles."""
    result = sizes(space.extents[loop.name], space.kernel.multiples.get(loop.name, 1))
    if loop.kind != "reduce":
        return result
    sparse = [result[0]]
    for size in result[1:]:
        if size == result[-1] or size <= sparse[-1] * _STEP:
            sparse.append(size)
    return tuple(sparse)


def tile_counts(space: TilingSpace, points: Integers) -> Integers:
    """Tiles of each point."""
    counts: Integers = np.prod(extents_to_try(space, points), axis=1, dtype=np.int64)
    return counts


def extents_to_try(space: TilingSpace, points: Integers) -> Integers:
    """Trips of each loop of each point."""
    extents = np.array([space.extents[loop.name] for loop in space.cuts], np.int64).reshape(1, -1)
    trips: Integers = ceil_div(extents, points)
    return trips


def orders(space: TilingSpace) -> Iterator[tuple[int, ...]]:
    """Orders of the loops that may differ in cost: neighbours that move the same operands are interchangeable.

    Reductions stand inside the others, so that what is begun is finished before anything else is.
    """
    moves = [tuple(loop.name in item.loops for item in space.copied) for loop in space.cuts]
    seen = 0
    parallel = [index for index, loop in enumerate(space.cuts) if loop.kind != "reduce"]
    reductions = [index for index, loop in enumerate(space.cuts) if loop.kind == "reduce"]
    for order in (outer + inner for outer in permutations(parallel) for inner in permutations(reductions)):
        if any(moves[left] == moves[right] and left > right for left, right in pairwise(order)):
            continue
        seen += 1
        if seen > _MOST_ORDERS:
            return
        yield order
