"""Knows when line buffers can give no better plan, and when nothing can fit, without a look at any plan.
Does not know call schedules, nor what line buffers save where they may save something.

Where speed is asked for, every step stays alone, and all that line buffering can save is that an output takes bytes of
what its step reads for the last time. The output's first row is stored before the first row of the operand was read, so
the operand begins at least one row of the output behind it. That bounds what is saved, step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf

from tilewright.ir.access.index import bare_loop
from tilewright.ir.access.index_map import MapAccess, touched
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import OUTSIDE, STREAMED, Decisions
from tilewright.ir.plans.stages import Allocated, Bound, Buffer, Scheduled
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.layout import strides
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.tile.machine import ScheduledMachine, StepOperand
from tilewright.tile.strategies import WholeTiler

LEAST_SAVED = 1024  # bytes, where only speed is asked for: a step that is called row by row is some 300 B more code


def line_buffers_may_help(planner: Planner, plan: Allocated) -> bool:
    """Whether `with_line_buffers` may answer anything but `plan`. False is certain."""
    if planner.pins.streams_io or any(region.line_buffers for region in plan.tiled.regions):
        return True
    scheduled = plan.tiled.scheduled
    if not line_buffers_possible(planner, scheduled.bound.platform):
        return False
    if planner.optimize != "speed":
        return True
    if planner.choose_constant_copies or isinstance(planner.tiler, WholeTiler):
        return False
    return least_bytes(scheduled, planner.operators, planner.pins) <= ram_bytes(plan) - LEAST_SAVED


def line_buffers_possible(planner: Planner, platform: Platform) -> bool:
    """Whether one core computes in its own memory, and no pin is about groups or tiles."""
    return computes_alone(platform) and not planner.pins.tiles and not planner.pins.groups


def computes_alone(platform: Platform) -> bool:
    """Whether one core computes, in a memory that nothing is copied to first."""
    return not platform.inner and all(engine.cores == 1 for engine in platform.engines)


def can_never_fit(bound: Bound, pins: Decisions) -> bool:
    """Whether all inputs, or all outputs, are more than all memories for values: they are there at once in every order,
    with every kernel, and by rows too.
    """
    platform, graph = bound.platform, bound.graph
    sizes = [platform.hard_bytes(memory.name) for memory in platform.of_kind("ram")]
    most = sum(inf if size is None else size for size in sizes)

    def together(names: Sequence[str]) -> int:
        ours = (name for name in dict.fromkeys(names) if pins.io.get(name) not in (*OUTSIDE, *STREAMED))
        return sum(align_up(graph.tensors[name].size_bytes, platform.buffer_align) for name in ours)

    return max(together(graph.inputs), together(graph.outputs)) > most


def least_bytes(scheduled: Scheduled, operators: Mapping[str, Operator], pins: Decisions) -> int:
    """Bytes that no plan takes less of in which every step is alone, line-buffered or in one piece, in this order."""
    machine = ScheduledMachine(scheduled, operators, pins)
    alive = _alive(machine)
    buffers = {buffer.name: buffer for buffer in scheduled.buffers if not _is_outside(machine, buffer)}
    numbers = range(len(scheduled.steps))
    return max((alive[number] - _most_saved(machine, buffers, number) for number in numbers), default=0)


def _alive(machine: ScheduledMachine) -> list[int]:
    """By step the bytes of all buffers that live then; those in the caller's memory take none."""
    begun = [0] * (len(machine.scheduled.steps) + 1)
    for buffer in machine.scheduled.buffers:
        if not _is_outside(machine, buffer):
            size_bytes = align_up(buffer.size_bytes, machine.platform.buffer_align)
            begun[buffer.first] += size_bytes
            begun[buffer.last + 1] -= size_bytes
    return list(accumulate(begun))


def _is_outside(machine: ScheduledMachine, buffer: Buffer) -> bool:
    """Whether a buffer is in the caller's memory: it takes no bytes of the plan, nor those of other buffers."""
    return any(machine.decisions.io.get(value) in OUTSIDE for value in buffer.values)


def _most_saved(machine: ScheduledMachine, buffers: Mapping[str, Buffer], number: int) -> int:
    """Bytes that the output of a step can take at most of one of the `buffers` that it reads for the last time."""
    operands = machine.operands(machine.scheduled.steps[number])
    outputs = [operand for operand in operands if operand.written]
    access = machine.access(machine.scheduled.steps[number])
    if len(outputs) != 1 or not isinstance(access, MapAccess):
        return 0
    taker = buffers.get(outputs[0].buffer)
    if taker is None or taker.first != number:
        return 0
    reads = [(operand, buffers[operand.buffer]) for operand in operands if operand.buffer in buffers]
    saved = (
        _saved(machine, giver, taker, distance_bytes)
        for read, giver in reads
        if giver.last == number and giver is not taker
        for distance_bytes in _distances(access, read, outputs[0])
    )
    return max(saved, default=0)


def _distances(access: MapAccess, read: StepOperand, output: StepOperand) -> Iterator[int]:
    """How far behind the output's buffer that of an operand begins, at least: for each axis that rows may be along, the
    end of the first row of the output, and the end of all of it where rows move nothing of the operand.
    """
    if any(span.low for span in touched(access, read.name)):
        yield 0  # the first bytes of the operand are not read at all
        return
    steps = strides(output.shape, output.layout)
    last = [(extent - 1) * step for extent, step in zip(output.shape, steps, strict=True)]
    moving = {loop for loops in access.moves[read.name] for loop in loops}
    rows = [sum(last) - last[at] for at, axis in enumerate(access.axes[output.name]) if bare_loop(axis) in moving]
    for end in (sum(last), *rows):
        yield output.offset_bytes + (end + 1) * output.item_bytes - read.offset_bytes


def _saved(machine: ScheduledMachine, read: Buffer, output: Buffer, distance_bytes: int) -> int:
    """Of both buffers side by side, where the operand's begins so far behind the output's."""
    align = machine.platform.buffer_align
    together = max(max(distance_bytes, 0) + read.size_bytes, output.size_bytes)
    apart = align_up(read.size_bytes, align) + align_up(output.size_bytes, align)
    return max(apart - align_up(together, align), 0)
