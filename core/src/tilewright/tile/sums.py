"""Knows the sums that a reduction cut into tiles keeps in the near memory: when there are any, and how large they are.
Does not know which reductions are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from tilewright.access import Access
from tilewright.tile.space import Space, WindowTable

SUMS = "acc"  # the operand


def cut_reductions(access: Access, nest: Iterable[tuple[str, int]], extents: Mapping[str, int]) -> tuple[str, ...]:
    """The reductions of which `nest` makes several tiles; `extents` has every loop's trips around it."""
    reductions = {loop.name for loop in access.loops if loop.kind == "reduce"}
    return tuple(name for name, size in nest if name in reductions and size < extents[name])


def sums_bytes(space: Space, cuts: Mapping[str, int], table: WindowTable) -> int:
    """Bytes of the sums where the loops are cut so: one for each element of the largest tile of the output."""
    if space.sums is None or not cut_reductions(space.access, cuts.items(), space.extents):
        return 0
    (output,) = space.access.outputs
    return space.sums.dtype.size_bytes * prod(table.room(output, cuts))
