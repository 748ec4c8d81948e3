"""Knows which steps are worth computing by another engine than that which is fastest at them, because both compute at
once then: by the list scheduler, which says how long all take together.
Does not know how kernels are bound, nor whether the plan fits: each exchange is planned with, and kept where the plan
is faster.

Binding compares kernels step by step, and so gives both branches of a network to whatever is faster at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tilewright.bind.candidates import engine_of
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.proposals.deferred_waits import Unit, makespan, units_of
from tilewright.plan.proposals.planner import Planner, merit
from tilewright.plan.proposals.shortfall import KernelChoice, choice_of
from tilewright.schedule import schedule
from tilewright.tile.machine import ScheduledMachine

WORTH = 0.01  # of the whole plan, by which the list scheduler must find it shorter
_MOST_EXCHANGES = 4
_MOST_TRIES = 2  # that are planned for one exchange


def with_exchanges(plan: Allocated, planner: Planner, bind: Callable[[Mapping[str, str]], Bound]) -> Allocated:
    """The plan, or a faster one in which a few steps are another engine's. `bind` binds again with some kernels (by
    node) instead of the plan's.
    """
    engines = plan.tiled.scheduled.bound.platform.engines
    queued, taken = any(engine.queue > 1 for engine in engines), dict[str, str]()
    while queued and len(taken) < _MOST_EXCHANGES:
        bound = plan.tiled.scheduled.bound
        units = _alone(bound, plan, planner)
        worth = sorted(worth_trying(units, choice_of(bound, planner.operators, planner.pins)))
        for _, step, kernel in worth[:_MOST_TRIES]:
            answer = planner.best(bind({**taken, step: kernel}))
            if isinstance(answer, Allocated) and merit(answer) < merit(plan):
                plan, taken = answer, {**taken, step: kernel}
                break
        else:
            break
    return plan


def _alone(bound: Bound, plan: Allocated, planner: Planner) -> tuple[Unit, ...]:
    """The steps of a plan, each tiled for itself."""
    decisions = Decisions(order=plan.decisions.order).pinned_by(planner.pins)
    scheduled = schedule(bound, planner.operators, decisions)
    groups = replace(planner, longest=1).groups(scheduled, decisions)
    return units_of(ScheduledMachine(scheduled, planner.operators, decisions), groups, whole=False)


def worth_trying(units: tuple[Unit, ...], choice: KernelChoice) -> Iterator[tuple[float, str, str]]:
    """Cycles that all take together where a step has another kernel, the step, and the kernel. A step of an engine that
    is to have whatever it can compute has no other.
    """
    before = makespan(units)
    for at, unit in enumerate(units):
        (step, *others), bindings = unit.nodes, choice.bound.bindings
        if others or engine_of(bindings[step].kernel, choice.bound.platform).preferred:
            continue
        for kernel, changed in _changed(unit, step, choice):
            after = makespan((*units[:at], changed, *units[at + 1 :]))
            if after < (1 - WORTH) * before:
                yield after, step, kernel


def _changed(unit: Unit, step: str, choice: KernelChoice) -> Iterator[tuple[str, Unit]]:
    """The cheapest kernel of every other engine, and the step with it, in one piece. Of engines with jobs only those
    count that have a queue.
    """
    platform, seen = choice.bound.platform, {engine_of(choice.bound.bindings[step].kernel, choice.bound.platform).name}
    for candidate in choice.candidates(step, {}):
        kernel, engine = candidate.kernel, engine_of(candidate.kernel, platform)
        if engine.name not in seen and not (kernel.wait and engine.queue < 2):
            seen.add(engine.name)
            computes = engine.slowdown * candidate.cycles / max(1, engine.cores)
            begins = engine.call_cycles + engine.step_cycles + kernel.step_cycles
            job, name = (computes, engine.name) if kernel.wait else (0.0, "")
            yield kernel.name, replace(unit, engine=name, cycles=begins + computes, job=job)
