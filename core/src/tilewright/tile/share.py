"""Knows how the cores of an engine share one tile: along which loop, and how many trips each core takes.
Does not know memories or copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.ir.access import Access, MapAccess
from tilewright.ir.kernel import Kernel
from tilewright.ir.rounding import ceil_div

_ABOUT = 1.1  # what a loop that is named earlier may cost more than the best
ANY = "*"  # in `Kernel.parallel`: every parallel loop of the access, outermost first


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Core i takes the trips `i * trips .. (i + 1) * trips` of `loop` that exist. `loop` "": core 0 takes the tile."""

    loop: str = ""
    trips: int = 0


def parallel_loops(kernel: Kernel, access: Access) -> tuple[str, ...]:
    """Loops that the cores may share, best first; none of an access whose windows are no index map."""
    if not isinstance(access, MapAccess):
        return ()
    parallel = tuple(loop.name for loop in access.loops if loop.kind == "parallel")
    named = (parallel if name == ANY else (name,) for name in kernel.parallel)
    return tuple(dict.fromkeys(name for names in named for name in names if name in parallel))


def share(kernel: Kernel, access: Access, extents: Mapping[str, int], cores: int) -> Share:
    """How `cores` cores share a tile with these extents: along the first loop that divides it about evenly."""
    loops = parallel_loops(kernel, access)
    if cores < 2 or not loops:
        return Share()
    some = (name for name in loops if extents[name] > 1)
    trips = {name: _largest(extents[name], cores, kernel.multiples.get(name, 1)) for name in some}
    if not trips:
        return Share()
    parts = {name: trips[name] / extents[name] for name in trips}
    loop = next(name for name in trips if parts[name] <= min(parts.values()) * _ABOUT)
    return Share(loop=loop, trips=trips[loop]) if parts[loop] < 1 else Share()


def _largest(extent: int, cores: int, grain: int) -> int:
    """The trips that the first core takes."""
    return ceil_div(extent, cores * grain) * grain
