"""Knows which engines read and write which buffers, and so in which memories a buffer may be.
Does not know where a buffer is placed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tilewright.errors import unsupported_error
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.constant_copies import copies_of, copy_name, copying, read_as
from tilewright.ir.plans.region import Region, key_of
from tilewright.ir.plans.stages import Buffer
from tilewright.tile.space.step_spaces import ScheduledMachine

Use = Literal["ro", "rw"]
Uses = Mapping[str, Mapping[str, Use]]  # buffer -> engine -> what it does there


def engine_uses(machine: ScheduledMachine, regions: Sequence[Region]) -> Uses:
    """By buffer. What the run function itself does, copying inputs and outputs, its first engine does, unless the
    platform has copies, which then do it.

    An operand that is copied into tile buffers is used there, and not where it lives. One without elements is used
    nowhere, nor is anything by a step that writes nothing.
    """
    found: dict[str, dict[str, Use]] = {}
    for buffer, engine, use in _all_uses(machine, regions):
        mine = found.setdefault(buffer, {})
        mine[engine] = "rw" if "rw" in (use, mine.get(engine)) else "ro"
    return found


def demand_scratchpad(machine: ScheduledMachine, regions: Sequence[Region]) -> None:
    """Every engine whose steps are tiled can use the scratchpad. TilewrightError TW5032 (exit 4) otherwise."""
    for region in regions:
        for name in region.steps if region.hops else ():
            engine = machine.bound.bindings[name].engine
            near = machine.platform.memory(region.hops[-1].inner)
            if not near.lets(engine, "rw"):
                raise unsupported_error(
                    "TW5032",
                    f"engine '{engine}' cannot compute in memory '{near.name}': it has {near.access_by(engine)}",
                    where=f"step '{name}'",
                    fix=("give the engine access to the scratchpad",),
                )


def reachable(buffer: Buffer, uses: Uses, platform: Platform) -> Buffer:
    """The buffer with those of its candidates that every engine which uses it can use so.

    TilewrightError TW5032 (exit 4) where there is none.
    """
    engines = uses.get(buffer.name, {})
    resident = tuple(
        name
        for name in buffer.memories
        if all(platform.memory(name).lets(engine, use) for engine, use in engines.items())
    )
    if resident or not buffer.memories:
        return buffer if resident == buffer.memories else replace(buffer, memories=resident)
    words = {"ro": "reads", "rw": "writes"}
    raise unsupported_error(
        "TW5032",
        f"no memory is left for buffer '{buffer.name}' that its engines can use",
        where=f"{buffer.kind} {', '.join(buffer.values) or buffer.name}",
        details=(
            *(f"engine '{engine}' {words[use]} it" for engine, use in engines.items()),
            *(f"memory '{name}': {_accesses(name, engines, platform)}" for name in buffer.memories),
        ),
        fix=("give an engine access to one of them, or pin the kernel of a step to another engine's",),
    )


def _accesses(name: str, engines: Mapping[str, Use], platform: Platform) -> str:
    memory = platform.memory(name)
    return ", ".join(f"{engine} has {memory.access_by(engine)}" for engine in engines)


def _copied(machine: ScheduledMachine, region: Region) -> set[str]:
    """Operands that cores do not use where they live: keys of copies, values that are held or have crossed whole."""
    keys = {key for hop in region.hops for key in hop.copies}
    whole = {key for hop in region.hops[:-1] if not hop.nest for key in hop.copies}
    steps = [machine.scheduled.steps[machine.numbers[name]] for name in region.steps if whole]
    crossed = {
        operand.value
        for step in steps for operand in machine.operands(step) if key_of(step.name, operand.name) in whole
    }  # fmt: skip
    return (
        keys | crossed | machine.scheduled.with_views(region.internal_values if region.hops else region.unmaterialised)
    )


def _all_uses(machine: ScheduledMachine, regions: Sequence[Region]) -> Iterator[tuple[str, str, Use]]:
    copied = [(region, _copied(machine, region)) for region in regions]
    inside_of = {step: inside for region, inside in copied for step in region.steps}
    storage, graph = machine.scheduled.storage, machine.bound.graph
    for step in machine.scheduled.steps:
        engine, inside = machine.bound.bindings[step.name].engine, inside_of[step.name]
        operands = machine.operands(step)
        if all(0 in operand.shape for operand in operands if operand.written):
            continue
        for operand in operands:
            elsewhere = operand.value in inside or key_of(step.name, operand.name) in inside
            if not elsewhere and 0 not in operand.shape:
                stored = read_as(operand.value, machine.decisions, step.name)
                name = stored if operand.constant else storage[operand.value].buffer
                yield name, engine, "rw" if operand.written else "ro"
        yield f"{step.name}.scratch", engine, "rw"
    runs = machine.platform.engines[0].name
    yield from ((storage[value].buffer, runs, "rw") for value in machine.decisions.state)
    yield from ((storage[value].buffer, runs, "ro") for value in machine.decisions.state.values())
    for name, staging in copies_of(machine.decisions, machine.bound.constants):
        if copying(machine.platform, staging.memory) == "memcpy":
            yield name, runs, "ro"
            yield from ((copy_name(name, staging, step.name), runs, "rw") for step in machine.scheduled.steps)
    if machine.platform.copies:
        return
    yield from ((storage[value].buffer, runs, "rw") for value in graph.inputs)
    yield from ((storage[value].buffer, runs, "ro") for value in graph.outputs if value in storage)
