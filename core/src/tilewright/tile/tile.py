"""Knows the `tile` stage: groups from a tiler, then every buffer that will exist, with candidates and final size.
Does not know offsets. After this stage no footprint changes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import OUTSIDE, Decisions
from tilewright.ir.plans.region import Region, key_of
from tilewright.ir.plans.stages import Buffer, Group, Scheduled, Tiled
from tilewright.ir.plans.tiler import Buffering, Tiler, TilingRequest
from tilewright.ir.plugin_contract import demand_type, wrong_answer
from tilewright.tile.deferred_steps import demand_deferrable, with_hidden
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import (
    aligned,
    constant_copies,
    demand_scratchpad,
    engine_uses,
    padded,
    persistent_buffers,
    reachable,
    region_buffers,
)


def tile(
    scheduled: Scheduled,
    operators: Mapping[str, Operator],
    tiler: Tiler,
    decisions: Decisions,
    buffering: Buffering = "auto",
    seed: int = 0,
    longest: int | None = None,
    known: dict[Hashable, Any] | None = None,
) -> Tiled:
    """Ask `tiler` for groups, then list every buffer: values, tiles, scratch, constants.

    Candidates are all memories that would do; a memory that is pinned is chosen among them by `allocate`. Where there
    is a scratchpad, nothing but tiles, their scratch and resident values are there unless it is pinned.
    """
    request = TilingRequest(
        scheduled=scheduled,
        operators=operators,
        decisions=decisions,
        buffering=buffering,
        seed=seed,
        longest=longest,
        known={} if known is None else known,
    )
    return listed(scheduled, operators, groups_by(tiler, request), decisions)


def groups_by(tiler: Tiler, request: TilingRequest) -> tuple[Group, ...]:
    """What `tiler` answers: groups that cover every step once, in order. TilewrightError (exit 8) where they do not."""
    groups = demand_type(tiler.plan(request), tuple, f"tiler '{tiler.name}'", tiler.plan, "plan")
    _check_cover(tiler, groups, request.scheduled)
    return groups


def constants_alone(scheduled: Scheduled, operators: Mapping[str, Operator], decisions: Decisions) -> Tiled:
    """What constants need is known before any tile is. Other buffers are there with their names, and have no place."""
    machine = ScheduledMachine(scheduled, operators, decisions)
    constants = (padded(buffer, machine.platform) for buffer in _constants(machine, decisions))
    return Tiled(scheduled=scheduled, groups=(), buffers=(*scheduled.buffers, *constants))


def listed(
    scheduled: Scheduled, operators: Mapping[str, Operator], groups: tuple[Group, ...], decisions: Decisions
) -> Tiled:
    """Groups with every buffer that they need. TilewrightError TW5076 (exit 5) for a step that cannot be waited for as
    it is tiled.
    """
    resident = {value: memory for group in groups for value, memory in group.region.resident.items()}
    decisions = replace(decisions, memories={**decisions.memories, **resident})
    machine = ScheduledMachine(scheduled, operators, decisions)
    regions = tuple(group.region for group in groups)
    demand_deferrable(machine, regions)
    demands = _kernel_memories(machine, regions)
    values = tuple(
        replace(buffer, memories=_candidates(buffer, machine, demands, decisions, resident))
        for buffer in persistent_buffers(scheduled.buffers, machine, regions)
    )
    buffers = (
        *values,
        *region_buffers(machine, regions),
        *_constants(machine, decisions),
        *constant_copies(machine),
    )
    demand_scratchpad(machine, regions)
    uses = engine_uses(machine, regions)
    return Tiled(
        scheduled=scheduled,
        groups=with_hidden(machine, groups),
        buffers=tuple(
            reachable(aligned(padded(buffer, machine.platform), machine.platform), uses, machine.platform)
            for buffer in buffers
        ),
    )


def _check_cover(tiler: Tiler, groups: tuple[Group, ...], scheduled: Scheduled) -> None:
    covered = [step for group in groups for step in group.steps]
    if covered != [step.name for step in scheduled.steps]:
        wanted = "groups that have every step once, in order"
        raise wrong_answer(f"tiler '{tiler.name}'", tiler.plan, "plan", covered, wanted)


def _kernel_memories(machine: ScheduledMachine, regions: Sequence[Region]) -> dict[str, tuple[str, ...]]:
    """Value -> the memories its kernels can reach, where any kernel is particular and gets no copy."""
    region_of = {step: region for region in regions for step in region.steps}
    demands: dict[str, tuple[str, ...]] = {}
    for step in machine.scheduled.steps:
        region = region_of[step.name]
        transferred = {name for hop in region.hops[-1:] for name in hop.copies}
        operands = machine.operands(step)
        copied = {item.name for item in operands if key_of(step.name, item.name) in transferred}
        copied |= {item.name for item in operands if item.value in region.internal_values}
        values = {item.name: item.value for item in operands if not item.constant}
        for operand, allowed in machine.bound.bindings[step.name].kernel.memories.items():
            value = values.get(operand, "")
            if value and operand not in copied:
                known = demands.get(value, allowed)
                demands[value] = tuple(memory for memory in allowed if memory in known)
    return demands


def _candidates(
    buffer: Buffer,
    machine: ScheduledMachine,
    demands: Mapping[str, tuple[str, ...]],
    decisions: Decisions,
    resident: Mapping[str, str],
) -> tuple[str, ...]:
    for value in buffer.values:
        if decisions.io.get(value) in OUTSIDE:
            return ()  # the caller's memory: not ours to place
    staying = tuple(dict.fromkeys(resident[value] for value in buffer.values if value in resident))
    if staying:
        return staying
    pinned = _pins(buffer.name, buffer.values, machine.memory_path.ram, machine.memory_path.backing_memories, decisions)
    passed = {
        hop.inner for hop in machine.hops[:-1]
    }  # on the way to the scratchpad: copies of what is pinned begin there
    names = pinned if passed.intersection(pinned) else [*machine.memory_path.backing_memories, *pinned]
    for value in buffer.values:
        if value in demands:
            names = [name for name in demands[value] if name in machine.memory_path.ram]
    return tuple(names)


def _pins(
    buffer: str, values: Iterable[str], memories: Iterable[str], usual: Iterable[str], decisions: Decisions
) -> list[str]:
    """Memories beside the usual ones in which a pin wants the buffer, or a value in it."""
    wanted = {decisions.memories.get(name) for name in (buffer, *values)} - set(usual)
    return [name for name in memories if name in wanted]


def _constants(machine: ScheduledMachine, decisions: Decisions) -> list[Buffer]:
    scheduled, platform = machine.scheduled, machine.platform
    final = max(len(scheduled.steps) - 1, 0)
    const = tuple(memory.name for memory in platform.of_kind("const"))
    return [
        Buffer(
            name=name,
            kind="constant",
            size_bytes=array.nbytes,
            align=max(platform.buffer_align, array.dtype.itemsize, machine.aligns.get(name, 1)),
            first=0,
            last=final,
            memories=machine.kept_in(name)
            or (
                *machine.memory_path.constant_memories,
                *_pins(name, (), const, machine.memory_path.constant_memories, decisions),
            ),
        )
        for name, array in scheduled.bound.constants.items()
    ]
