"""Knows how the cores of an engine share one tile: along which loop, and how many iterations each core takes. Does
not know memories or copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import lcm

from tilewright.ir.access.index_map import Access, MapAccess
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.rounding import ceil_div

_ABOUT = 1.1  # what a loop that is named earlier may cost more than the best
_ALONE = 1.45  # what a trip outside a block takes over one inside: outputs of portable QConv on Snitch (GVSoC)
ANY = "*"  # in `Kernel.parallel`: every parallel loop of the access, outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Core i takes the iterations `i * extent .. (i + 1) * extent` of `loop` that exist; with `loop` "", core 0
    takes the tile. `extent` is the least multiple of `grain` with which the cores take all.
    """

    loop: str = ""
    extent: int = 0
    grain: int = 1


ALONE = Share()


def parallel_loops(kernel: Kernel, access: Access) -> tuple[str, ...]:
    """Loops that the cores may share, best first; none of an access whose windows are no index map."""
    if not kernel.parallel or not isinstance(access, MapAccess):
        return ()
    parallel = [loop.name for loop in access.loops if loop.kind == "parallel"]
    loops: dict[str, None] = {}
    for name in kernel.parallel:
        loops |= dict.fromkeys(parallel if name == ANY else [name] if name in parallel else ())
    return tuple(loops)


def blocked_extent(extent: int, block: int) -> float:
    """How many iterations inside whole blocks take as long as `extent` iterations of a loop."""
    rest = extent % block
    return extent - rest + _ALONE * rest


def share(kernel: Kernel, access: Access, extents: Mapping[str, int], cores: int) -> Share:
    """How `cores` cores share a tile with these extents: along the first loop that divides it about evenly."""
    return share_along(kernel, parallel_loops(kernel, access), extents, cores)


def share_along(kernel: Kernel, loops: Sequence[str], extents: Mapping[str, int], cores: int) -> Share:
    """The same, `loops` being the `parallel_loops`."""
    candidates: list[tuple[float, str, int, int]] = []  # the first core's part of the tile's time; loop, extent, grain
    for name in loops if cores > 1 else ():
        if extents[name] > 1:
            least, block = kernel.multiples.get(name, 1), kernel.blocks.get(name, 1)
            part, part_extent, grain = _part(extents[name], cores, least, block)
            candidates.append((part, name, part_extent, grain))
    if not candidates:
        return ALONE
    most = min(candidate[0] for candidate in candidates) * _ABOUT
    part, loop, part_extent, grain = next(candidate for candidate in candidates if candidate[0] <= most)
    return Share(loop=loop, extent=part_extent, grain=grain) if part < 1 else ALONE


@lru_cache(maxsize=4096)
def _part(extent: int, cores: int, least: int, block: int) -> tuple[float, int, int]:
    """The part of a tile's time that the first core takes along a loop, by iterations or, where that is less, by
    blocks; the extent of a core's share, and its grain.
    """
    part_extent = ceil_div(extent, cores * least) * least
    if block == 1:
        return min(part_extent, extent) / extent, part_extent, least
    every = blocked_extent(extent, block)
    candidates = []
    for grain in (least, lcm(least, block)):
        part_extent = ceil_div(extent, cores * grain) * grain
        candidates.append((blocked_extent(min(part_extent, extent), block) / every, part_extent, grain))
    return min(candidates, key=lambda candidate: candidate[0])
