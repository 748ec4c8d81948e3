"""Knows what calls of steps take that are computed row by row: cycles and scratch, by trips and columns.
Does not know in which order steps are called, nor what moving rows takes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from tilewright.bind.candidates import operations
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.machines.platform import Engine
from tilewright.ir.machines.stated_cycles import stated_cycles
from tilewright.tile.cost.kernel_costs import kernel_cycles, scratch_bytes
from tilewright.tile.cost.traffic import MOVED_BYTES_PER_CYCLE
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.step_spaces import call_signature

CALL_CYCLES = 60  # that a call takes beside its kernel, where the engine does not say it; an estimate


def call_cycles(kernel: Kernel, engine: Engine) -> float:
    """What a call takes beside its kernel: the table, the counters, the windows; an estimate."""
    costs = engine.instructions
    if costs is None:
        return CALL_CYCLES
    return costs.overhead_cycles_each * (costs.row_call_of_portable if kernel.target == "*" else costs.row_call)


def moved_cycles(engine: Engine, size_bytes: float) -> float:
    """Of moving rows of so many bytes to make room; an estimate."""
    costs = engine.instructions
    return (
        size_bytes / MOVED_BYTES_PER_CYCLE
        if costs is None
        else costs.overhead_cycles_each * costs.moved_byte * size_bytes
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCostCache:
    """What calls take, once for layers that differ in nothing which that depends on: such are of one kind."""

    signatures: dict[Hashable, int] = field(default_factory=dict)  # what decides -> a number
    calls: dict[tuple[int, int, str, int], tuple[float, int]] = field(default_factory=dict)
    # kind, trips, loop and number of columns -> `BufferedCallCosts.cost`


class BufferedCallCosts:
    """Of the steps of a machine's schedule. `costs` may be known from another schedule of the same binding."""

    def __init__(self, machine: ScheduledMachine, costs: CallCostCache) -> None:
        self.machine, self.costs = machine, costs
        self._kinds: dict[int, int] = {}  # by step

    def cost(self, step: BufferedStep, trips: int, width: int = 0) -> tuple[float, int]:
        """Cycles and scratch of a call of so many trips, and of so many columns; 0: of all."""
        key = (self.signature(step), trips, step.columns.loop if step.columns else "", width)
        known = self.costs.calls.get(key)
        if known is None:
            known = self.costs.calls[key] = self._call(step, trips, {key[2]: width} if width else {})
        return known

    def signature(self, step: BufferedStep) -> int:
        """A number; the same for steps whose calls take the same, however many trips and columns they have."""
        known = self._kinds.get(step.index)
        if known is None:
            known = self._kinds[step.index] = self.costs.signatures.setdefault(
                self._decisive(step), len(self.costs.signatures)
            )
        return known

    def _decisive(self, step: BufferedStep) -> Hashable:
        machine, binding = self.machine, self.machine.bound.bindings[step.step.name]
        site, access = machine.site(step.step), machine.access(step.step)
        extents = {loop.name: loop.extent for loop in access.loops}
        calls, engine = call_signature(binding.kernel, site, access, extents), machine.engine(binding.engine)
        whole = TileShape(site=site, access=access, box={name: (0, trips) for name, trips in extents.items()})
        stated = stated_cycles(binding.kernel, engine, whole)
        return (
            calls,
            stated,
            self._operations(step),
            binding.engine,
            step.loop,
            step.sums,
            step.flattened,
            step.output.shape,
        )

    def _operations(self, step: BufferedStep) -> float:
        machine, binding = self.machine, self.machine.bound.bindings[step.step.name]
        site, engine = machine.site(step.step), machine.engine(binding.engine)
        return operations(binding.kernel, machine.operators[site.node.op], site, machine.platform, engine)

    def overhead(self, step: BufferedStep, moved_bytes: float, calls: float) -> float:
        """Cycles beside kernels: of so many calls, and of moving rows."""
        binding = self.machine.bound.bindings[step.step.name]
        engine = self.machine.engine(binding.engine)
        return moved_cycles(engine, moved_bytes) + calls * call_cycles(binding.kernel, engine)

    def again(self, step: BufferedStep) -> float:
        """Multiply-accumulates of a step that are done once more, in some other stripe."""
        if step.columns is None:
            return 0.0
        site = self.machine.site(step.step)
        done = self.machine.operators[site.node.op].macs(site)
        return done * max(0.0, sum(step.widths) / step.output.shape[step.columns.axis] - 1)

    def scratch_bytes(self, step: BufferedStep, trips: int) -> int:
        """Of any call of so many trips."""
        return max(self.cost(step, trips, width)[1] for width in set(step.widths))

    def _call(self, step: BufferedStep, trips: int, columns: Mapping[str, int]) -> tuple[float, int]:
        cycles, scratch = self._kernel_call(step, {step.loop: trips * step.flattened.length, **columns})
        return step.flattened.runs * cycles, scratch

    def _kernel_call(self, step: BufferedStep, trips: Mapping[str, int]) -> tuple[float, int]:
        machine, binding = self.machine, self.machine.bound.bindings[step.step.name]
        site, access, engine = machine.site(step.step), machine.access(step.step), machine.engine(binding.engine)
        extents = {loop.name: trips.get(loop.name, loop.extent) for loop in access.loops}
        cycles = kernel_cycles(binding.kernel, site, access, self._operations(step), extents, engine)
        return cycles, scratch_bytes(binding.kernel, site, access, extents, engine.cores)[1]
