"""Knows where a step whose reduction is cut keeps its sums, and how its program tells the first tile and the last.
Does not know which reductions are cut, nor what kernels do with the sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from tilewright.decisions import GroupTile
from tilewright.graph import Site
from tilewright.kernel import Kernel
from tilewright.layout import strides
from tilewright.lower.addresses import AddressBook
from tilewright.lower.bonds import Bond
from tilewright.lower.boxes import lows, whole_box
from tilewright.lower.nest import Nest
from tilewright.lower.slots import Held, Sums, extent_ranges, unsupported_tile
from tilewright.stages import Step
from tilewright.statements import Region
from tilewright.tile.buffers import tile_buffer_name
from tilewright.tile.sums import SUMS, cut_reductions


def sums_of(
    nest: Nest, kernel: Kernel, site: Site, bonds: Sequence[Bond], step: Step, book: AddressBook, tile: GroupTile
) -> Sums | None:
    """The sums of a step; None where no reduction is cut.

    Raises TilewrightError TW4041 where a tiling cuts a reduction elsewhere than on the last hop.
    """
    extents = {name: high for name, (_, high) in whole_box(nest.access).items()}
    cuts = [cut_reductions(nest.access, hop.nest, extents) for hop in tile.hops]
    if not any(cuts):
        return None
    form, written = kernel.accumulates(site), [bond for bond in bonds if bond.written]
    if form is None or len(written) != 1 or any(cuts[:-1]):
        raise unsupported_tile(step, f"loop '{next(names[0] for names in cuts if names)}' is a reduction")
    (output,) = written
    room = tuple(most for _, most in extent_ranges(nest, output, nest.ranges))
    name = tile_buffer_name(step.name, SUMS, tile.hops[-1].near, 0)
    place, item = book.of_buffer(name), form.dtype.size_bytes
    return Sums(
        output=output.operand,
        dtype=form.dtype,
        held=Held(
            parameter=place.parameter,
            memory=tile.hops[-1].near,
            offset_bytes=place.offset_bytes,
            strides=tuple(one * item for one in strides(room, output.layout)),
            origin=lows(nest.access, output.operand, nest.box),
            regions=(Region(buffer=name, offset_bytes=0, size_bytes=item * prod(room)),),
        ),
        first=_all_at(nest, cuts[-1], dict.fromkeys(cuts[-1], 0), end=0),
        last=_all_at(nest, cuts[-1], extents, end=1),
    )


def _all_at(nest: Nest, loops: Sequence[str], values: Mapping[str, int], *, end: int) -> str:
    """That the tile's range of every loop begins, or ends, at its value."""
    text = " && ".join(f"{nest.box[loop][end]} == {values[loop]}" for loop in loops)
    return f"({text})"
