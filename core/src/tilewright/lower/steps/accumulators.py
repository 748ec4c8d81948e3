"""Knows the sums of a split reduction in the generated program: where they are, when they begin and end.
Does not know what a kernel does with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tilewright.ir.plans.region import Region
from tilewright.ir.programs.expressions import Expression, all_of, equal
from tilewright.ir.programs.statements import ByteRange
from tilewright.ir.tensors.layout import strides
from tilewright.lower.operands.c_boxes import lows, whole_box
from tilewright.lower.tiles.tile_nest import TileNest
from tilewright.lower.tiles.tile_operands import Accumulator, OperandLocation, TiledStep, extent_ranges
from tilewright.tile.cost.footprint import SUMS, tile_buffer_name


def accumulator_of(tiling: TiledStep, region: Region) -> Accumulator | None:
    """The sums of a step; None where no reduction of it is split."""
    form = region.sums.get(tiling.step.name)
    if form is None:
        return None
    nest, book = tiling.nest, tiling.book
    (output,) = [binding for binding in tiling.bindings if binding.written]
    if form.in_output:
        held = tiling.internal_value(output, len(nest.levels))
    else:
        room = tuple(most for _, most in extent_ranges(nest, output, nest.ranges))
        near, item = region.hops[-1].inner, form.dtype.size_bytes
        name = tile_buffer_name(tiling.step.name, SUMS, near, 0)
        place = book.of_buffer(name)
        held = OperandLocation(
            parameter=place.parameter,
            memory=near,
            offset=place.offset,
            strides=tuple(one * item for one in strides(room, output.layout)),
            origin=lows(nest.access, output.operand, nest.box),
            ranges=(ByteRange(buffer=name, offset_bytes=0, size_bytes=item * prod(room)),),
        )
    extents = {name: high for name, (_, high) in whole_box(nest.access).items()}
    return Accumulator(
        output=output.operand,
        dtype=form.dtype,
        carried=held,
        in_output=form.in_output,
        first=_all_at(nest, form.loops, dict.fromkeys(form.loops, 0), end=0),
        last=_all_at(nest, form.loops, extents, end=1),
    )


def _all_at(nest: TileNest, loops: Sequence[str], values: Mapping[str, int], *, end: int) -> Expression:
    """That the tile's range of every loop begins, or ends, at its value."""
    return all_of(*(equal(nest.box[loop][end], values[loop]) for loop in loops))
