"""Knows which steps are faster in tiles with another kernel than the one that is fastest on the whole step.
Does not know how kernels are bound, nor how tiles are found.

Binding compares kernels on whole steps. In a small scratchpad calls and copies decide: a kernel that can be cut along
other loops, or takes less scratch, has larger tiles and fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tilewright.bind.candidates import engine_of
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.shortfall import KernelChoice, Refused, joined
from tilewright.schedule import schedule

Times = Mapping[str, float]  # step -> cycles, tiled alone
WORTH = 0.2  # of a step's time: by so much another kernel must be faster: estimates are no better than that
_MOSTLY = 0.5  # of a step's time: where its kernel computes for so long, it does not wait for tiles


def faster_in_tiles(
    plan: Allocated, planner: Planner, choice: KernelChoice, bind: Callable[[Mapping[str, str]], Bound]
) -> dict[str, str]:
    """Step -> kernel, where that one's tiles take less time than those of the kernel that the plan has. `bind` binds
    again with some kernels instead of the plan's.
    """
    now = _times(planner, plan.tiled.scheduled.bound, plan)
    found: dict[str, str] = {}
    tried: Refused = {}
    while kernels := worth_trying(now, choice, tried):
        tried = joined(tried, {step: frozenset((name,)) for step, name in kernels.items()})
        times = _fitting_times(planner, plan, kernels, bind)
        better = {step: name for step, name in kernels.items() if times.get(step, now[step]) < (1 - WORTH) * now[step]}
        found, now = {**found, **better}, {**now, **{step: times[step] for step in better}}
    return found


def worth_trying(times: Times, choice: KernelChoice, tried: Refused) -> dict[str, str]:
    """Step -> the cheapest kernel that was not tried, where its computation alone is less than the step takes, and the
    step waits for something else than computation.
    """
    found: dict[str, str] = {}
    for step, cycles in times.items():
        used = choice.bound.bindings[step].kernel
        others = choice.candidates(step, joined(tried, {step: frozenset((used.name,))}))
        waits = bool(others) and _computing(choice, step, used) < _MOSTLY * cycles
        if waits and _computing(choice, step, others[0].kernel) < (1 - WORTH) * cycles:
            found[step] = others[0].kernel.name
    return found


def _fitting_times(
    planner: Planner, plan: Allocated, kernels: Mapping[str, str], bind: Callable[[Mapping[str, str]], Bound]
) -> Times:
    """What steps take with these kernels, of which those are left out that no tile fits."""
    while kernels:
        try:
            return _times(planner, bind(kernels), plan)
        except TilewrightError as error:
            blocked = {one.subject for one in (error, *error.others)}
            if error.exit_code is not Exit.DOES_NOT_FIT or blocked.isdisjoint(kernels):
                return {}
            kernels = {step: name for step, name in kernels.items() if step not in blocked}
    return {}


def _times(planner: Planner, bound: Bound, plan: Allocated) -> Times:
    """Every step tiled alone, in the plan's order. TilewrightError TW5101 for steps that no tile fits."""
    alone = replace(planner, longest=1)
    decisions = Decisions(order=plan.decisions.order).pinned_by(planner.pins)
    groups = alone.groups(schedule(bound, planner.operators, decisions), decisions)
    return {group.steps[0]: group.cycles for group in groups if len(group.steps) == 1}


def _computing(choice: KernelChoice, step: str, kernel: Kernel) -> float:
    """Cycles in which all cores have computed a step in one piece, at best."""
    cycles = next(one.cycles for one in choice.bound.bindings[step].candidates if one.kernel.name == kernel.name)
    engine = engine_of(kernel, choice.bound.platform)
    return engine.slowdown * cycles / max(1, engine.cores)
