"""Knows what kernels and cores say that a call takes: cycles, or instructions and what each of them takes.
Does not know what a call takes of which neither says anything.
"""

from __future__ import annotations

from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import Engine


def stated_cycles(kernel: Kernel, engine: Engine, tile: TileShape) -> float | None:
    """What the kernel says that one core takes for `tile`, in cycles, or what `engine` does of its instructions; None
    where neither knows.
    """
    if kernel.cycles is not None:
        return kernel.cycles(tile)
    costs = engine.instructions
    if costs is None:
        return None
    known = costs.executed(kernel, tile)
    return None if known is None else known * costs.cycles_each(kernel)
