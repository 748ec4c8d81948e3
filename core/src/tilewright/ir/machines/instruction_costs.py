"""Knows how a core's time follows from what it executes: instructions of kernels and of calls, and cycles for each.
Does not know any core, nor how instructions were counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilewright.ir.machines.kernel import Kernel, TileShape


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionCosts:
    """What a core executes, how long that takes, and its stack, for an engine that is one core: estimates, all of it.

    `executed` has the instructions of a kernel for a part of a layer, None where nothing was counted. `cycles_each` is
    what an instruction of a kernel takes: latencies, jumps, and waits for a slow memory. The other figures are of steps
    that are computed row by row.
    """

    executed: Callable[[Kernel, TileShape], float | None]
    cycles_each: Callable[[Kernel], float]
    row_call: float  # instructions of a call beside its kernel's: the table, the counters, the windows
    row_call_of_portable: float  # the same of portable C, which has no constants for its bounds then
    moved_byte: float  # instructions for a byte of rows that move to make room
    overhead_cycles_each: float  # what an instruction of these takes
    stack_bytes: Callable[[Kernel], int]  # the most of a step with that kernel, of layers that were run
    row_stack_bytes: int  # that steps computed row by row take besides

    def counted(self) -> InstructionCosts:
        """The same of a core on which every instruction takes one cycle: its cycles are instructions."""
        return replace(self, cycles_each=lambda kernel: 1.0, overhead_cycles_each=1.0)
