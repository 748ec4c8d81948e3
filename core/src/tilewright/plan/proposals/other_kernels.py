"""Knows what it costs that steps run with other kernels than the fastest, how that is told, and which steps are faster
in tiles with another kernel than the one that is fastest on the whole step.
Does not know how kernels are bound, nor how tiles are found.

Binding compares kernels on whole steps. In a small scratchpad calls and copies decide: a kernel that can be cut along
other loops, or takes less scratch, has larger tiles and fewer of them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from tilewright.bind.candidates import engine_of
from tilewright.errors import Diagnostic, Exit, TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Binding, Bound, Candidate
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.shortfall import KernelChoice, Refused, joined
from tilewright.schedule import schedule

Times = Mapping[str, float]  # step -> cycles, tiled alone
WORTH = 0.2  # of a step's time: by so much another kernel must be faster: estimates are no better than that
_MOSTLY = 0.5  # of a step's time: where its kernel computes for so long, it does not wait for tiles


def extra_cycles(bound: Bound, kernels: Mapping[str, str]) -> float:
    """What these kernels (node -> name) take longer than the fastest of their nodes, together: an estimate."""
    bindings = (bound.bindings[node] for node in kernels if node in bound.bindings)
    return sum(_candidate(binding, kernels[binding.node]).cycles - binding.candidates[0].cycles for binding in bindings)


def exchanged(bound: Bound, first: Bound) -> dict[str, str]:
    """Node -> kernel, where it is another than in `first`."""
    before = {name: binding.kernel.name for name, binding in first.bindings.items()}
    return {
        name: binding.kernel.name
        for name, binding in bound.bindings.items()
        if before.get(name) not in (None, binding.kernel.name)
    }


def is_other(bound: Bound, first: Bound) -> bool:
    """Whether kernels are others than in `first`, or nodes compute a value again."""
    return bool(exchanged(bound, first)) or bound.bindings.keys() != first.bindings.keys()


def slower_kernels(bound: Bound, first: Bound, memories: Sequence[str]) -> Iterator[Diagnostic]:
    """The note TW5035 for steps of `bound` that had faster kernels in `first`, which `memories` have no room for; where
    none is named, less memory was asked for.
    """
    changed = exchanged(bound, first)
    if not changed:
        return
    extra = extra_cycles(bound, changed)
    total = sum(binding.candidates[0].cycles for binding in bound.bindings.values())
    longer = f"; the network takes about {100 * extra / total:.1f} % longer on one core (estimate)" if total else ""
    steps = "1 step has a slower kernel" if len(changed) == 1 else f"{len(changed)} steps have slower kernels"
    why = f"memory is short ({', '.join(memories)})" if memories else "less memory is asked for"
    yield Diagnostic(
        code="TW5035",
        severity="note",
        message=f"{why}: {steps}{longer}",
        details=tuple(_line(bound.bindings[name], first.bindings[name]) for name in changed),
    )


def _line(binding: Binding, before: Binding) -> str:
    extra = _candidate(binding, binding.kernel.name).cycles - _candidate(binding, before.kernel.name).cycles
    return f"'{binding.node}': {binding.kernel.name} instead of {before.kernel.name}, {extra:,.0f} cycles more"


def _candidate(binding: Binding, kernel: str) -> Candidate:
    return next(candidate for candidate in binding.candidates if candidate.kernel.name == kernel)


def faster_in_tiles(
    plan: Allocated, planner: Planner, choice: KernelChoice, bind: Callable[[Mapping[str, str]], Bound]
) -> dict[str, str]:
    """Step -> kernel, where that one's tiles take less time than those of the kernel that the plan has. `bind` binds
    again with some kernels instead of the plan's. All steps are tiled again only where the steps in question gain.
    """
    now = _times(planner, plan.tiled.scheduled.bound, plan)
    result: dict[str, str] = {}
    tried: Refused = {}
    while kernels := worth_trying(now, choice, tried):
        tried = joined(tried, {step: frozenset((name,)) for step, name in kernels.items()})
        better: Mapping[str, str] = kernels
        for every in (False, True):
            times = _fitting_times(planner, plan, kernels, bind, every=every) if better else {}
            better = {
                step: name for step, name in kernels.items() if times.get(step, now[step]) < (1 - WORTH) * now[step]
            }
        result, now = {**result, **better}, {**now, **{step: times[step] for step in better}}
    return result


def worth_trying(times: Times, choice: KernelChoice, tried: Refused) -> dict[str, str]:
    """Step -> the cheapest kernel that was not tried, where its computation alone is less than the step takes, and the
    step waits for something else than computation.
    """
    result: dict[str, str] = {}
    for step, cycles in times.items():
        used = choice.bound.bindings[step].kernel
        others = choice.candidates(step, joined(tried, {step: frozenset((used.name,))}))
        waits = bool(others) and _computing(choice, step, used) < _MOSTLY * cycles
        if waits and _computing(choice, step, others[0].kernel) < (1 - WORTH) * cycles:
            result[step] = others[0].kernel.name
    return result


def _fitting_times(
    planner: Planner,
    plan: Allocated,
    kernels: Mapping[str, str],
    bind: Callable[[Mapping[str, str]], Bound],
    *,
    every: bool,
) -> Times:
    """What steps take with these kernels, of which those are left out that no tile fits: `every` step, or those that
    have these kernels.
    """
    while kernels:
        try:
            return _times(planner, bind(kernels), plan, () if every else kernels)
        except TilewrightError as error:
            blocked = {failure.subject for failure in (error, *error.others)}
            if error.exit_code is not Exit.DOES_NOT_FIT or blocked.isdisjoint(kernels):
                return {}
            kernels = {step: name for step, name in kernels.items() if step not in blocked}
    return {}


def _times(planner: Planner, bound: Bound, plan: Allocated, steps: Collection[str] = ()) -> Times:
    """Every step tiled alone, in the plan's order, or where that can be asked for only some of them. TilewrightError
    TW5101 for steps that no tile fits.
    """
    alone = replace(planner, longest=1)
    decisions = Decisions(order=plan.decisions.order).pinned_by(planner.pins)
    scheduled = schedule(bound, planner.operators, decisions)
    times = alone.cycles_alone(scheduled, decisions, steps) if steps else None
    if times is not None:
        return times
    groups = alone.groups(scheduled, decisions)
    return {group.steps[0]: group.cycles for group in groups if len(group.steps) == 1}


def _computing(choice: KernelChoice, step: str, kernel: Kernel) -> float:
    """Cycles in which all cores have computed a step in one piece, at best."""
    cycles = next(
        candidate.cycles for candidate in choice.bound.bindings[step].candidates if candidate.kernel.name == kernel.name
    )
    engine = engine_of(kernel, choice.bound.platform)
    return engine.slowdown * cycles / max(1, engine.cores)
