"""Knows whether a plan of very many blocks is right, looking at all of them at once: V1 to V5 and V8 of
`docs/allocation.md` for blocks with one lifetime of which nothing else is said.
Does not know what is wrong with one that is not: that is `allocation`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from tilewright.ir.plans.allocation import Place, Problem, Solution
from tilewright.ir.plans.block_columns import MANY, BlockColumns, columns_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.int64]

_BEYOND = 1 << 62  # no byte is there


def is_surely_right(problem: Problem, solution: Solution, *, more_than: int = MANY) -> bool:
    """Whether nothing is wrong with a plan. False also where this is not the one to say so."""
    if problem.conflicts or problem.compatible or problem.within or any(pool.reserved for pool in problem.pools):
        return False
    columns = columns_of(problem.blocks, more_than=more_than)
    if columns is None or any(block.fixed_offset is not None or block.engines for block in problem.blocks):
        return False
    places = [place for block in problem.blocks if (place := solution.places.get(block.name)) is not None]
    if len(places) < len(problem.blocks) or len(solution.places) != len(problem.blocks):
        return False
    return _may_be_there(problem, places) and _are_inside_and_apart(problem, solution, columns, places)


def _may_be_there(problem: Problem, places: Sequence[Place]) -> bool:
    """Whether every block is in a pool that it may be in, and that is aligned for it."""
    aligned = {pool.name: pool.align for pool in problem.pools}
    kinds = {(block.pools, block.align, place.pool) for block, place in zip(problem.blocks, places, strict=True)}
    return all(name in pools and name in aligned and not aligned[name] % align for pools, align, name in kinds)


def _are_inside_and_apart(problem: Problem, solution: Solution, columns: BlockColumns, places: Sequence[Place]) -> bool:
    import numpy as np

    offsets = np.array([place.offset_bytes for place in places])
    if offsets.dtype != np.int64 or offsets.min() < 0 or offsets.max() >= _BEYOND or (offsets % columns.aligns).any():
        return False
    number = {pool.name: index for index, pool in enumerate(problem.pools)}
    pools = np.array([number[place.pool] for place in places])
    for index, pool in enumerate(problem.pools):
        inside = (pools == index) & (columns.sizes > 0)
        ends = offsets[inside] + columns.sizes[inside]
        every = offsets[pools == index] + columns.sizes[pools == index]
        if pool.capacity_bytes is not None and every.max(initial=0) > pool.capacity_bytes:
            return False
        if ends.max(initial=0) < solution.bounds.get(pool.name, 0):
            return False
        if not are_apart(columns.births[inside], columns.deaths[inside], offsets[inside], ends):
            return False
    return not set(solution.bounds) - set(number)


def are_apart(births: Numbers, deaths: Numbers, lows: Numbers, highs: Numbers) -> bool:
    """Whether of any two that are alive at one time none has a byte of the other: a sweep over time.

    `births` and `deaths` belong to the lifetime, `highs` are the first bytes behind. Between events the ends of all
    that is alive stand in one ascending list: low, high, low, high.
    """
    import numpy as np

    count = len(births)
    events = np.argsort(np.concatenate((2 * births, 2 * deaths + 1)), kind="stable")
    blocks = events % max(count, 1)
    edges = [_BEYOND << 1]
    for dies, low, high in zip((events >= count).tolist(), lows[blocks].tolist(), highs[blocks].tolist(), strict=True):
        at = bisect_right(edges, low)
        if dies:
            del edges[at - 1 : at + 1]
        elif at % 2 or edges[at] < high:
            return False
        else:
            edges[at:at] = (low, high)
    return True
