"""Knows how much scratch the cores of an engine need together, in the tile that is shared by most of them.
Does not know where scratch is, and shares no arithmetic with what reserves it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from tilewright.ir.machines.core_shares import share
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import Platform
from tilewright.ir.rounding import align_up, ceil_div

_ALIGN = 8  # what the scratch of every core begins at a multiple of
_ALIKE: Mapping[str, npt.NDArray[np.int64]] = {}


def core_scratch(
    platform: Platform,
    engine: str,
    kernel: Kernel,
    largest: TileShape,
    trips: Mapping[str, npt.NDArray[np.int64]] = _ALIKE,
) -> int:
    """Bytes from where the first core's scratch begins to where the last one's ends, in the tile of most shares.

    `largest` has the most trips of every loop, `trips` those of all tiles where they differ. Core i's scratch begins at
    i times what a share of the largest tile needs. Every tile is shared along the same loop, and a smaller one may be
    by more cores: 41 trips are 6 each for 7 cores, 40 are 5 each for 8.
    """
    most = {loop: largest.extent(loop) for loop in largest.box}
    cores = next(one.cores for one in platform.engines if one.name == engine)
    split = share(kernel, largest.access, most, cores)
    box = {loop: (0, min(split.extent, extent) if loop == split.loop else extent) for loop, extent in most.items()}
    one = kernel.scratch_bytes(TileShape(site=largest.site, access=largest.access, box=box))
    if not one or not split.loop:
        return one
    every = trips.get(split.loop, np.array(most[split.loop])).reshape(-1)
    every = every[every > 0]
    shares = int(ceil_div(every, ceil_div(every, cores * split.grain) * split.grain).max(initial=1))
    return (shares - 1) * align_up(one, _ALIGN) + one
