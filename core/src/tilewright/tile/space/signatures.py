"""Knows when two spaces have the same best tiling, so that one search does for both; and when two layers' calls take
the same. Does not know how anything is found.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.machines.kernel import Kernel, Matched, TileShape
from tilewright.tile.space.tiling_space import TilingSpace


class SpaceSignature:
    """What decides the best tiling of a space, the room apart: equal for spaces that have the same one in as much room.

    It is looked up far more often than it is made, so it is worked out and hashed once; and not before: of tiles that
    are decided nobody asks for it.
    """

    __slots__ = ("_decisive", "_hash", "_space")

    def __init__(self, space: TilingSpace) -> None:
        self._space = space
        self._decisive: tuple[Hashable, ...] = ()  # () until it is asked for
        self._hash = 0

    def __hash__(self) -> int:
        if not self._decisive:
            self._decisive = _decisive(self._space)
            self._hash = hash(self._decisive)
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SpaceSignature):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._decisive == other._decisive)


def call_signature(kernel: Kernel, site: Matched, access: Access, extents: Mapping[str, int]) -> tuple[Hashable, ...]:
    """What decides the cycles and the scratch of any call of a kernel, beside the engine. `extents`: of all of it."""
    axes = tuple(access.axes.items()) if isinstance(access, MapAccess) else site.node.name
    shape = TileShape(site=site, access=access, box={name: (0, trips) for name, trips in extents.items()})
    attributes = tuple((name, repr(value)) for name, value in site.node.attributes.items() if name != "requant")
    cycles = kernel.cycles and (kernel.cycles(shape), attributes)
    return kernel.name, cycles, kernel.scratch_bytes(shape), axes, access.loops, tuple(extents.items())


def _decisive(space: TilingSpace) -> tuple[Hashable, ...]:
    return (
        call_signature(space.kernel, space.site, space.access, space.extents),
        space.around,
        space.copied,
        space.operations,
        space.grain,
        space.once,
        space.engine.name,
        space.spared_bytes,
        space.sums,
    )
