"""Knows the buffers of copies of constants: one that lasts for a copy made once, one for every step that makes its own.
Does not know where they are placed.
"""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.ir.plans.constant_copies import copies_of, copy_name
from tilewright.ir.plans.stages import Buffer
from tilewright.tile.space.step_spaces import ScheduledMachine


def constant_copies(machine: ScheduledMachine) -> Iterator[Buffer]:
    """In the order of the constants, then of the steps."""
    scheduled, bound = machine.scheduled, machine.bound
    final = max(len(scheduled.steps) - 1, 0)
    for name, staging in copies_of(machine.decisions, bound.constants):
        array = bound.constants[name]
        readers = [
            index for index, step in enumerate(scheduled.steps) if name in bound.bindings[step.name].constants.values()
        ]
        lives = [(0, final)] if staging.when == "init" else [(index, index) for index in readers]
        for first, last in lives if readers else ():
            yield Buffer(
                name=copy_name(name, staging, scheduled.steps[first].name),
                kind="resident" if staging.when == "init" else "staged",
                size_bytes=array.nbytes,
                align=max(machine.platform.buffer_align, array.dtype.itemsize),
                first=first,
                last=last,
                memories=(staging.memory,),
            )
