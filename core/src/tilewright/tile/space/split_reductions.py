"""Knows the reductions that are computed in parts: the accumulators in the scratchpad, when there are any, and how
large they are; and which trips of a reduction are a row of an image that it reads flattened, through a view of the same
bytes.
Does not know which reductions are cut, nor in which order rows are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tilewright.ir.access.index import bare_loop, mentions
from tilewright.ir.access.index_map import Access, Loop, MapAccess
from tilewright.ir.machines.kernel import PartialSums
from tilewright.ir.plans.region import FlattenedRows, SplitReduction
from tilewright.ir.tensors.layout import Layout
from tilewright.tile.space.tiling_space import TilingSpace, WindowTable

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


def cut_reductions(access: Access, nest: Iterable[tuple[str, int]], extents: Mapping[str, int]) -> tuple[str, ...]:
    """The reductions of which `nest` makes several tiles; `extents` has every loop's trips around it."""
    reductions = {loop.name for loop in access.loops if loop.kind == "reduce"}
    return tuple(name for name, size in nest if name in reductions and size < extents[name])


def sums_of(
    access: Access, form: PartialSums | None, nests: Iterable[Iterable[tuple[str, int]]], *, in_output: bool
) -> SplitReduction | None:
    """The sums of a step whose loops are cut so, nest by nest; None where no reduction is. They may be `in_output`."""
    extents = {loop.name: loop.extent for loop in access.loops}
    split = [name for nest in nests for name in cut_reductions(access, nest, extents)]
    if form is None or not split:
        return None
    return SplitReduction(loops=tuple(dict.fromkeys(split)), dtype=form.dtype, in_output=in_output)


def splits(access: Access, nest: Iterable[tuple[str, int]]) -> bool:
    """Whether a nest names a reduction."""
    reductions = {loop.name for loop in access.loops if loop.kind == "reduce"}
    return any(name in reductions for name, _ in nest)


def is_split(space: TilingSpace, points: Integers) -> npt.NDArray[np.bool_]:
    """Which of many tile sizes, [points, loops that may be cut], make several tiles of a reduction."""
    columns = [at for at, loop in enumerate(space.cuts) if loop.kind == "reduce"]
    extents = np.array([space.extents[space.cuts[at].name] for at in columns], np.int64)
    return np.asarray(np.any(points[:, columns] < extents, axis=1), np.bool_)


def accumulator_bytes(space: TilingSpace, points: Integers, table: WindowTable) -> Integers:
    """Bytes of the sums for many tile sizes: one for each element of the largest tile of the output."""
    if space.sums is None or space.sums_in_output:
        return np.zeros(len(points), np.int64)
    (output,) = space.access.outputs
    axes = space.index_map.axes[output]
    columns = [at for at, loop in enumerate(space.cuts) if any(mentions(axis.index, loop.name) for axis in axes)]
    elements = table.elements(output, [space.cuts[at].name for at in columns], points[:, columns])
    return np.where(is_split(space, points), space.sums.dtype.size_bytes * elements, 0)


class Flattened(NamedTuple):
    """An operand that shows an image, the loop through it, and which of its iterations are a row."""

    operand: str
    loop: Loop
    rows: FlattenedRows


def flattened(
    access: Access, operand: str, loop: Loop, image: tuple[int, ...], layout: Layout, axis: int
) -> Flattened | None:
    """How a loop goes through the rows, along `axis`, of an image whose bytes are the operand's. None where it does not
    go through all of the operand, one element after the other.
    """
    if not isinstance(access, MapAccess) or image[axis] == 1:
        return None
    if prod(index.extent for index in access.axes[operand]) != loop.extent:
        return None
    if all(bare_loop(index) != loop.name for index in access.axes[operand]):
        return None
    at = layout.index(axis)
    runs, length = (prod(image[position] for position in axes) for axes in (layout[:at], layout[at + 1 :]))
    return Flattened(operand=operand, loop=loop, rows=FlattenedRows(runs=runs, length=length))
