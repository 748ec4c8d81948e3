"""Knows how the cores of an engine share one tile: along which loop, and how many trips each core takes.
Does not know memories or copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.access import Access, MapAccess
from tilewright.kernel import Kernel

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
    """How `cores` cores share a tile with these extents.

    Along the first loop with a trip for every core; where there is none, along the longest.
    """
    loops = parallel_loops(kernel, access)
    if cores < 2 or not loops:
        return Share()
    long_enough = [name for name in loops if extents[name] >= cores]
    loop = long_enough[0] if long_enough else max(loops, key=lambda name: extents[name])
    if extents[loop] < 2:
        return Share()
    grain = kernel.multiples.get(loop, 1)
    trips = -(-extents[loop] // (cores * grain)) * grain
    return Share(loop=loop, trips=trips)
