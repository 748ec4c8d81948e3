"""Knows how the tiles of several steps together are found: sizes of the sink's loops, what is kept, buffers.
Does not know which steps are tried together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilewright.decisions import GroupTile, HopTile, TileCopy
from tilewright.tile.fuse import Chain, copy_key
from tilewright.tile.fuse_boxes import Mode, boxes_of


def tile_of(
    chain: Chain, ends: tuple[str, str], nest: Sequence[tuple[str, int]], inner: Mapping[str, Mode]
) -> GroupTile:
    """The tiling with these cuts: whatever travels does so as seldom as one buffer allows."""
    boxes = boxes_of(chain, nest, inner)
    copies = {
        copy_key(member.step.name, item.name, len(chain.members)): TileCopy(depth=boxes.depth_of(number, item.name))
        for number, member in enumerate(chain.members)
        for item in member.space.travellers
    }
    return GroupTile(hops=(HopTile(far=ends[0], near=ends[1], nest=tuple(nest), copies=copies),), inner=dict(inner))
