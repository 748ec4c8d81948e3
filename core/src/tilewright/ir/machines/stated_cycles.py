"""Knows what kernels and cores say that a call takes: cycles, or instructions and what each of them takes.
Does not know what a call takes of which neither says anything.
"""

from __future__ import annotations

from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import Engine


def stated_cycles(kernel: Kernel, engine: Engine, tile: TileShape) -> float | None:
    """What the kernel says that one core takes for `tile`, in cycles, or what `engine` does of its instructions; None
    where neither knows. `Engine.slowdown` is still to be multiplied by.
    """
    if kernel.cycles is not None:
        cycles = kernel.cycles(tile)
        if engine.stack_cycles and kernel.stack_reads is not None:
            return (cycles + engine.stack_cycles * kernel.stack_reads(tile)) / engine.slowdown
        return cycles
    costs = engine.instructions
    if costs is None:
        return None
    known = costs.executed(kernel, tile)
    return None if known is None else known * costs.cycles_each(kernel)
