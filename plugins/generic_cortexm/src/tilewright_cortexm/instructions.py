"""Knows what cores execute for layers, and how long an instruction of each kernel takes: the fitted table.
Does not know how it was fitted (`benchmarks/estimates.py`), nor what layers go through (`work`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from tilewright.api.kernel import Kernel, TileShape
from tilewright.api.platform import InstructionCosts
from tilewright_cortexm.work import Work, work_of

TABLE = "instructions.json"
# of steps that are computed row by row: instructions of a call, and for a byte that moves; cycles of each of them
ROW_CALL, ROW_CALL_OF_PORTABLE, MOVED_BYTE, OVERHEAD_CYCLES = 90.0, 120.0, 0.5, 1.6

USUAL_STACK, ROW_STACK = 256, 88  # bytes: of a step with a kernel that was not run, and of calls by rows


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTable:
    """What was fitted for one core. `executed`: kind of work, or kernel -> what is gone through -> instructions each
    time; `cycles_each`: kernel -> cycles of an instruction.
    """

    executed: Mapping[str, Mapping[str, float]]
    cycles_each: Mapping[str, float]
    usual_cycles_each: float
    stack: Mapping[str, int]  # kernel -> the most bytes of a step

    def executed_by(self, kernel: Kernel, tile: TileShape) -> float | None:
        """Of a call: for a kernel that states its instructions, these corrected; None for what was never counted."""
        work = work_of(kernel.computes, tile)
        if kernel.instructions is None:
            return self.of_portable(work) if kernel.target == "*" else None
        stated = kernel.instructions(tile)
        known = self._sum(kernel.name, {**work.trips, "stated": stated})
        return stated if known is None else known

    def of_portable(self, work: Work) -> float | None:
        """Of portable C; None for what was never counted."""
        return self._sum(work.kind, work.trips)

    def _sum(self, kind: str, trips: Mapping[str, float]) -> float | None:
        each = self.executed.get(kind) or self.executed.get(kind.split(" ", maxsplit=1)[0])
        return None if each is None else sum(count * trips.get(name, 0.0) for name, count in each.items())

    def cycles_of(self, kernel: Kernel) -> float:
        """Of one instruction."""
        return self.cycles_each.get(kernel.name, self.usual_cycles_each)


@lru_cache(maxsize=1)
def tables() -> Mapping[str, CoreTable]:
    """By name of the core; the file is read once."""
    import json

    result = json.loads((files("tilewright_cortexm") / TABLE).read_text(encoding="ascii"))
    return {core: CoreTable(**fields) for core, fields in result["cores"].items()}


def table_of(core: str) -> CoreTable:
    """Of one core; one that knows nothing for a core that was not counted."""
    return tables().get(core, CoreTable(executed={}, cycles_each={}, usual_cycles_each=1.5, stack={}))


@cache
def instruction_costs(core: str) -> InstructionCosts:
    """For an engine of a platform. The table is read when something is asked."""
    return InstructionCosts(
        executed=lambda kernel, tile: table_of(core).executed_by(kernel, tile),
        cycles_each=lambda kernel: table_of(core).cycles_of(kernel),
        row_call=ROW_CALL,
        row_call_of_portable=ROW_CALL_OF_PORTABLE,
        moved_byte=MOVED_BYTE,
        overhead_cycles_each=OVERHEAD_CYCLES,
        stack_bytes=lambda kernel: table_of(core).stack.get(kernel.name, USUAL_STACK),
        row_stack_bytes=ROW_STACK,
    )
