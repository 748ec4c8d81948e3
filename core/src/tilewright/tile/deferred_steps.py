"""Knows what is demanded of the tiles of steps whose engine is waited for behind a later step, and which part of their
jobs is hidden beside the steps in between.
Does not know which steps those are, nor whether that pays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tilewright.bind.candidates import operations
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.plans.region import Region
from tilewright.ir.plans.stages import Group
from tilewright.tile.cost.kernel_costs import kernel_cycles
from tilewright.tile.machine import ScheduledMachine


def demand_deferrable(machine: ScheduledMachine, regions: Sequence[Region]) -> None:
    """Each such step is a region of its own in one tile, and waited for behind the last step of one. TilewrightError
    TW5076 (exit 5) otherwise.
    """
    region_of = {step: region for region in regions for step in region.steps}
    for name, behind in machine.scheduled.deferred.items():
        if reason := fault_of(region_of[name], machine) or _fault_behind(region_of[behind], behind):
            raise TilewrightError(
                "TW5076",
                f"the engine cannot be waited for behind '{behind}': {reason}",
                where=f"step '{name}'",
                fix=("remove `deferred` of that step from the pinned decisions, or pin tiles that allow it",),
                exit_code=Exit.DOES_NOT_FIT,
            )


def fault_of(region: Region, machine: ScheduledMachine) -> str:
    """Why the last job of a region cannot be waited for behind a later step; "" where it can."""
    if len(region.steps) > 1:
        return f"'{region.steps[0]}' and others are tiled with it"
    if not machine.platform.inner and all(engine.cores == 1 for engine in machine.platform.engines):
        return "the program is for one core and one memory"
    extents = {
        loop.name: loop.extent for loop in machine.access(machine.scheduled.steps[machine.numbers[region.name]]).loops
    }
    if region.sums or any(size < extents[loop] for hop in region.hops for loop, size in hop.nest):
        return "it is cut in several tiles"
    return ""


def _fault_behind(region: Region, behind: str) -> str:
    return "" if region.name == behind or not region.together else f"'{region.name}' is tiled with that"


def job_cycles(machine: ScheduledMachine, name: str) -> float:
    """What the engine computes of a step in one tile, without what it takes to start that: an estimate."""
    step, binding = machine.scheduled.steps[machine.numbers[name]], machine.bound.bindings[name]
    engine, site, access = machine.engine(binding.engine), machine.site(step), machine.access(step)
    work = operations(binding.kernel, machine.operators[site.node.op], site, machine.platform, engine)
    extents = {loop.name: loop.extent for loop in access.loops}
    return kernel_cycles(binding.kernel, site, access, work, extents, engine) - engine.call_cycles


def with_hidden(machine: ScheduledMachine, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups, their cycles without what is hidden: the steps are played on the clocks of cores and engines."""
    if not machine.scheduled.deferred:
        return tuple(groups)
    hidden = dict(_played(machine, groups))
    return tuple(
        replace(
            group,
            cycles=group.cycles + group.hidden_cycles - hidden.get(group.name, 0.0),
            hidden_cycles=hidden.get(group.name, 0.0),
        )
        for group in groups
    )


def _played(machine: ScheduledMachine, groups: Sequence[Group]) -> Iterator[tuple[str, float]]:
    """Every deferred step, and the cycles of its job in which cores did something else."""
    deferred, now = machine.scheduled.deferred, 0.0
    pending: list[tuple[str, float, float]] = []  # step, cycles of its job, when that ends
    for group in groups:
        now += group.cycles + group.hidden_cycles
        if group.name in deferred:
            job = job_cycles(machine, group.name)
            pending.append((group.name, job, now))
            now -= job
        for name, job, ends in [item for item in pending if deferred[item[0]] in group.steps]:
            yield name, job - max(0.0, ends - now)
            now = max(now, ends)
            pending.remove((name, job, ends))
