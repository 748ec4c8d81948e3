"""Knows which engines are worth waiting for behind later steps, and an order of the steps in which that gains most: a
list scheduler on the clocks of the cores and of each engine, with the costs of a plan in which every step waits.
Does not know whether that fits: the planner plans it, and keeps the faster plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Group, Scheduled
from tilewright.schedule import schedule
from tilewright.schedule.deferred import conflict
from tilewright.tile.deferred_steps import job_cycles
from tilewright.tile.machine import ScheduledMachine

WORTH = 0.001  # of the whole plan, that is hidden at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Steps that run one after the other: one, or a group. `job`: cycles that its engine computes alone, at its end."""

    nodes: tuple[str, ...]
    engine: str  # "": the cores
    cycles: float
    job: float
    after: frozenset[int]  # numbers of the units that it reads from


def proposals(plan: Allocated, operators: Mapping[str, Operator], pins: Decisions) -> Iterator[Decisions]:
    """The plan's decisions about order and places in others' bytes, with waits behind later steps: in the order that
    the list scheduler finds, and in the plan's own; and without, where other steps can be tiled together with a job
    that comes before them. None where waits or tiles are pinned.
    """
    jobs = any(binding.kernel.wait for binding in plan.tiled.scheduled.bound.bindings.values())
    if not jobs or pins.deferred or pins.tiles:
        return
    machine = ScheduledMachine(plan.tiled.scheduled, operators, plan.decisions)
    own = tuple(node.name for node in machine.bound.graph.nodes)
    forbidden = {value: source for value, source in plan.decisions.in_place.items() if not source}
    decided = Decisions(in_place=forbidden, staged=plan.decisions.staged)
    if not pins.order and (jobs_first := _jobs_first(machine)) != own:
        yield replace(decided, order=jobs_first).pinned_by(pins)
    units = units_of(machine, plan.tiled.groups)
    if not any(unit.job for unit in units):
        return
    total = sum(unit.cycles for unit in units)
    faster = () if pins.order else (_all_nodes(machine.bound.graph, units, scheduled_units(units)),)
    for order in dict.fromkeys((*faster, own)):
        decisions = replace(decided, order=order).pinned_by(pins)
        scheduled = schedule(machine.bound, operators, decisions)
        deferred, hidden = _waits(scheduled, units)
        if hidden > WORTH * total:
            yield replace(decisions, deferred=deferred)


def with_gains(plan: Allocated, before: Allocated) -> dict[str, str]:
    """The waits behind later steps of a plan, but for steps that lose more in one tile than their jobs hide; `before`
    is the plan without such waits.
    """
    old = {group.name: group.cycles for group in before.tiled.groups}
    new = {group.name: group.cycles for group in plan.tiled.groups}
    deferred = plan.tiled.scheduled.deferred
    return {name: behind for name, behind in deferred.items() if new[name] < old.get(name, 0.0)}


def scheduled_units(units: Sequence[Unit]) -> tuple[int, ...]:
    """An order of units: what has the longest way to the end first; jobs before what the cores compute beside them."""
    order, _ = _listed(units)
    return order


def makespan(units: Sequence[Unit]) -> float:
    """Cycles that all take in that order."""
    _, cycles = _listed(units)
    return cycles


def _listed(units: Sequence[Unit]) -> tuple[tuple[int, ...], float]:
    ranks, order = _ranks(units), list[int]()
    left, done, now = dict.fromkeys(range(len(units))), set[int](), 0.0
    pending: dict[str, tuple[int, float]] = {}  # engine -> the unit that it computes, and when that ends
    while left:
        free = [at for at in left if units[at].after <= done and units[at].engine not in pending]
        if not free:
            engine = min(pending, key=lambda name: pending[name][1])
            at, ends = pending.pop(engine)
            done.add(at)
            now = max(now, ends)
            continue
        at = min(free, key=lambda number: (not units[number].job, -ranks[number], number))
        del left[at]
        order.append(at)
        now += units[at].cycles - units[at].job
        if units[at].job:
            pending[units[at].engine] = at, now + units[at].job
        else:
            done.add(at)
        for engine in [name for name, (_, ends) in pending.items() if ends <= now]:
            done.add(pending.pop(engine)[0])
    return tuple(order), max([now, *(ends for _, ends in pending.values())])


def _ranks(units: Sequence[Unit]) -> list[float]:
    """Cycles from the beginning of each unit to the end of all, along the longest way. `units` are in an order."""
    ranks = [0.0] * len(units)
    for at in reversed(range(len(units))):
        ranks[at] += units[at].cycles
        for before in units[at].after:
            ranks[before] = max(ranks[before], ranks[at])
    return ranks


def units_of(machine: ScheduledMachine, groups: Sequence[Group], *, whole: bool = True) -> tuple[Unit, ...]:
    """The groups of a plan, in its order. `whole`: only steps that can be in one tile have a job."""
    made: dict[str, int] = {}  # value -> the unit that writes it
    steps = {name: at for at, group in enumerate(groups) for name in group.steps}
    after: list[set[int]] = [set() for _ in groups]
    sources: dict[str, frozenset[int]] = {}  # value that no step writes -> the units that its bytes come from
    for node in machine.bound.graph.nodes:
        read = {made[value] for value in node.inputs if value in made}
        read |= {at for value in node.inputs for at in sources.get(value, ())}
        if node.name in steps:
            made |= dict.fromkeys(node.outputs, steps[node.name])
            after[steps[node.name]] |= read - {steps[node.name]}
        else:
            sources |= dict.fromkeys(node.outputs, frozenset(read))
    units = []
    for at, group in enumerate(groups):
        binding = machine.bound.bindings[group.name]
        alone = len(group.steps) == 1 and _queued(machine, group.name) and (not whole or _fits(machine, group.name))
        units.append(
            Unit(
                nodes=group.steps,
                engine=binding.engine if binding.kernel.wait else "",
                cycles=group.cycles,
                job=min(job_cycles(machine, group.name), group.cycles) if alone else 0.0,
                after=frozenset(after[at]),
            )
        )
    return tuple(units)


def _queued(machine: ScheduledMachine, name: str) -> bool:
    """Whether a step has jobs on an engine with a queue. Without one `call` and `wait` may be in one function."""
    binding = machine.bound.bindings[name]
    return bool(binding.kernel.wait) and machine.engine(binding.engine).queue > 1


def _fits(machine: ScheduledMachine, name: str) -> bool:
    """Whether the step can be in one tile."""
    number = machine.numbers[name]
    step, rooms = machine.scheduled.steps[number], [machine.available_bytes(hop.inner, number) for hop in machine.hops]
    taken = [machine.whole_bytes(step, hop.inner) for hop in machine.hops]
    return all(room is None or size <= room for size, room in zip(taken, rooms, strict=True))


def _jobs_first(machine: ScheduledMachine) -> tuple[str, ...]:
    """All nodes in the order of the graph, but for steps of engines with a queue, which come as soon as they can."""
    order, known = list[str](), {"", *machine.bound.graph.inputs, *machine.bound.graph.constants}
    waiting = list(machine.bound.graph.nodes)
    while waiting:
        free = [node for node in waiting if known.issuperset(node.inputs)]
        jobs = (node for node in free if node.name in machine.numbers and _queued(machine, node.name))
        node = next(jobs, free[0])
        waiting.remove(node)
        order.append(node.name)
        known.update(node.outputs)
    return tuple(order)


def _all_nodes(graph: Graph, units: Sequence[Unit], order: Sequence[int]) -> tuple[str, ...]:
    """All nodes in that order of units; one that is no step as soon as there is what it reads."""
    nodes, known = {node.name: node for node in graph.nodes}, {"", *graph.inputs, *graph.constants}
    steps = {name for unit in units for name in unit.nodes}
    views = [node for node in graph.nodes if node.name not in steps]
    result: list[str] = []

    def shown() -> None:
        for node in list(views):
            if known.issuperset(node.inputs):
                views.remove(node)
                known.update(node.outputs)
                result.append(node.name)

    shown()
    for name in (name for at in order for name in units[at].nodes):
        result.append(name)
        known.update(nodes[name].outputs)
        shown()
    return tuple(result)


def _waits(scheduled: Scheduled, units: Sequence[Unit]) -> tuple[dict[str, str], float]:
    """By step the later one behind which its engine is waited for, where something can run beside its job; and how many
    cycles that hides: each job runs until its cycles are over, or a step has to wait for it.
    """
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    ends = {unit.nodes[-1]: unit for unit in units}
    deferred, hidden = dict[str, str](), 0.0
    for at, step in enumerate(scheduled.steps):
        unit, behind, beside = ends.get(step.name), "", 0.0
        if unit is None or not unit.job:
            continue
        for later in range(at + 1, len(scheduled.steps)):
            name = scheduled.steps[later].name
            if beside >= unit.job or conflict(scheduled, nodes, at, later):
                break
            if name in ends:
                behind, beside = name, beside + ends[name].cycles
        if behind:
            deferred[step.name] = behind
            hidden += min(beside, unit.job)
    return deferred, hidden
