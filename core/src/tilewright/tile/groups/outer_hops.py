"""Knows how what several steps read and write together crosses the hops before the last: whole, or in tiles.
Does not know how the tiles of the last hop are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tilewright.ir.plans.region import Copy, Cut, Hop, key_of
from tilewright.ir.plans.tiler import Buffering
from tilewright.tile.cost.footprint import scratchpad_bytes
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.cost.traffic import crossings_of
from tilewright.tile.groups.group_bounds import cut_loops
from tilewright.tile.space.fusion import RegionAnalysis, whole_hops
from tilewright.tile.space.tiling_space import sizes


def outer_hops(analysis: RegionAnalysis, buffering: Buffering) -> Iterator[tuple[Hop, ...]]:
    """The hops before the last. Where whole values have no room there, and it is one hop, for each loop of the sink
    the largest tiles that have, in two buffers and in one.
    """
    whole = whole_hops(analysis)
    if _fits(analysis, whole):
        yield whole
    elif len(whole) == 1:
        for loop in cut_loops(analysis):
            for buffers in (1,) if buffering == "single" else (2, 1):
                found = (_in_tiles(analysis, Cut(loop, size), buffers) for size in part_sizes(analysis, loop, ()))
                fitting = next((hop for hop in found if _fits(analysis, (hop,))), None)
                if fitting is not None:
                    yield (fitting,)


def part_sizes(analysis: RegionAnalysis, loop: str, outer: Sequence[Hop]) -> Sequence[int]:
    """Of a loop of the sink, from two parts on, inside the parts that the hops `outer` make of it; largest first."""
    space = analysis.sink.space
    around = (cut.size for hop in outer for cut in hop.nest if cut.loop == loop)
    return sizes(min((space.extents[loop], *around)), space.kernel.multiples.get(loop, 1))[1:]


def _in_tiles(analysis: RegionAnalysis, cut: Cut, buffers: int) -> Hop:
    """The first hop with one loop cut: what does not move with it is copied once."""
    hop = analysis.hops[0]
    boxes = boxes_of(analysis, (Hop(outer=hop.outer, inner=hop.inner, nest=(cut,)), *_last(analysis)))
    copies = {}
    for number, member in enumerate(analysis.members):
        for item in member.spaces[0].copied:
            level = min(boxes.copy_level_of(number, item.name), 1)
            copies[key_of(member.step.name, item.name)] = Copy(level=level, buffers=buffers if level else 1)
    return Hop(outer=hop.outer, inner=hop.inner, nest=(cut,), copies=copies)


def _last(analysis: RegionAnalysis) -> tuple[Hop]:
    """The last hop in one tile."""
    return (Hop(outer=analysis.hops[-1].outer, inner=analysis.hops[-1].inner),)


def _fits(analysis: RegionAnalysis, outer: tuple[Hop, ...]) -> bool:
    """Whether there is room on the way for what crosses these hops."""
    if not outer:
        return True
    boxes = boxes_of(analysis, (*outer, *_last(analysis)))
    crossings = crossings_of(boxes)
    return not boxes.faults and all(
        scratchpad_bytes(boxes, crossings, {}, hop) <= analysis.available_bytes(hop) for hop in range(len(outer))
    )
