"""Knows how the cores of an engine share one tile: along which loop, and how many trips each core takes.
Does not know memories or copies.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.ir.access import Access, MapAccess
from tilewright.ir.dataclass import dataclass
from tilewright.ir.kernel import Kernel
from tilewright.ir.rounding import ceil_div

_ABOUT = 1.1  # what a loop that is named earlier may cost more than the best
ANY = "*"  # in `Kernel.parallel`: every parallel loop of the access, outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Core i takes the trips `i * trips .. (i + 1) * trips` of `loop` that exist. `loop` "": core 0 takes the tile."""

    loop: str = ""
    trips: int = 0


ALONE = Share()


def parallel_loops(kernel: Kernel, access: Access) -> tuple[str, ...]:
    """Loops that the cores may share, best first; none of an access whose windows are no index map."""
    if not kernel.parallel or not isinstance(access, MapAccess):
        return ()
    parallel = [loop.name for loop in access.loops if loop.kind == "parallel"]
    found: dict[str, None] = {}
    for name in kernel.parallel:
        found |= dict.fromkeys(parallel if name == ANY else [name] if name in parallel else ())
    return tuple(found)


def share(kernel: Kernel, access: Access, extents: Mapping[str, int], cores: int) -> Share:
    """How `cores` cores share a tile with these extents: along the first loop that divides it about evenly."""
    parts: list[tuple[float, str, int]] = []  # of the tile that the first core takes, and how many trips that is
    for name in parallel_loops(kernel, access) if cores > 1 else ():
        extent, grain = extents[name], kernel.multiples.get(name, 1)
        if extent > 1:
            trips = ceil_div(extent, cores * grain) * grain
            parts.append((trips / extent, name, trips))
    if not parts:
        return ALONE
    most = min(parts)[0] * _ABOUT
    part, loop, trips = next(one for one in parts if one[0] <= most)
    return Share(loop=loop, trips=trips) if part < 1 else ALONE
