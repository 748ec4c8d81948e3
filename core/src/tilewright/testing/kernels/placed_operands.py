"""Knows places of the operands of one call on this machine, for kernels that pack constants which hold them
(`Kernel.pack_placed`): each operand is alone behind a base of its own, and at another distance than all others.
Does not know how a call is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.ir.machines.kernel import Kernel, OperandPlace, PlacedTile, TileShape
from tilewright.ir.plans.layer import Layer
from tilewright.ir.plans.tile_packing import TilePacking

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_APART = 64  # bytes, at least: what a base is away from the next


def packed_for(
    layer: Layer, tile: TileShape, operands: Sequence[str], skipped: Mapping[str, int]
) -> Mapping[str, Array]:
    """The packed constants with what this tile reads. `operands` are in the order of their pointers; `skipped` is how
    many bytes behind its pointer the tile's first element is. TilewrightError TW8062 for what no tile can read.
    """
    packing = TilePacking(kernel=layer.kernel, site=layer.site, access=layer.access, packed=layer.packed)
    places = {
        name: OperandPlace(base=number, offset_bytes=_distance(layer.kernel, number) + skipped.get(name, 0), memory="")
        for number, name in enumerate(operands)
    }
    placed = PlacedTile(site=layer.site, access=layer.access, box=tile.box, places=places)
    return packing.placed([placed], layer.site.node.name)


def base_pointers(kernel: Kernel, operands: Iterable[str]) -> tuple[str, ...]:
    """`Call.bases` of such a call, in C."""
    if kernel.pack_placed is None:
        return ()
    return tuple(
        f"((const uint8_t *)((uintptr_t)tw_p[{number}] - {_distance(kernel, number)}u))"
        for number, _ in enumerate(operands)
    )


def _distance(kernel: Kernel, number: int) -> int:
    return max(_APART, *kernel.align.values(), 1) * (number + 1)
