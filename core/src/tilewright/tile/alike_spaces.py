"""Knows when two spaces have the same best tiling, so that one search does for both.
Does not know how it is found.
"""

from __future__ import annotations

from collections.abc import Hashable

from tilewright.ir.access import MapAccess
from tilewright.ir.kernel import TileShape
from tilewright.tile.tiling_space import TilingSpace


def structural_key(space: TilingSpace) -> Hashable:
    """Equal for spaces that have the same best tiling."""
    access = space.access
    axes = tuple(access.axes.items()) if isinstance(access, MapAccess) else space.site.node.name
    box = {name: (0, trips) for name, trips in space.extents.items()}
    shape = TileShape(site=space.site, access=access, box=box)
    kernel = space.kernel
    attributes = tuple((name, repr(value)) for name, value in space.site.node.attributes.items() if name != "requant")
    return (
        kernel.name,
        kernel.cycles and (kernel.cycles(shape), attributes),
        kernel.scratch_bytes(shape),
        axes,
        access.loops,
        tuple(space.extents.items()),
        space.around,
        space.copied,
        space.operations,
        space.room_bytes,
        space.grain,
        space.once,
        space.engine.name,
        space.spared_bytes,
        space.sums,
    )
