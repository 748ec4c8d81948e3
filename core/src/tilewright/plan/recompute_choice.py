"""Knows when cheap values are computed a second time: where the plan becomes smaller for few more cycles, or fits.
Does not know which values these are (`recomputation`), nor how any plan is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tilewright.bind.recompute import first_name, recomputed
from tilewright.errors import Diagnostic
from tilewright.ir.plans.decisions import Recomputation
from tilewright.ir.plans.stages import Allocated, Bound, Scheduled
from tilewright.plan.line_buffers.plan_costs import layers_cycles, plan_cycles
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.recomputation import recomputations
from tilewright.plan.proposals.shortfall import PlanFailure

Answer = Allocated | tuple[PlanFailure, ...]

_MOST = 0.02  # more cycles, a part of those of the network
_FREE = 0.01  # the same where speed is asked for and the plan fits
_LEAST_SAVED = 1024  # bytes, in that case: every step is more code


def with_recomputation(planner: Planner, answer: Answer, found: Callable[[Bound], Answer]) -> Answer:
    """The plan with cheap values computed again, where that is asked for or free; the answer itself where it is not, or
    nothing is gained. `found` plans with a binding.
    """
    pins = planner.pins
    settled = any(one.readers for one in pins.recomputed)
    if settled or pins.order or pins.tiles or pins.groups or pins.streams_io:
        return answer
    if isinstance(answer, Allocated):
        near = answer.tiled.scheduled.bound.platform.inner
        return answer if near else _smaller(planner, answer, found)
    for scheduled in _crowded(answer):
        wanted, _ = _worth(planner, scheduled, _MOST * layers_cycles(scheduled))
        other = found(recomputed(scheduled.bound, wanted)) if wanted else ()
        if isinstance(other, Allocated):
            return _saying(other, wanted)
    return answer


def recomputation_notes(allocated: Allocated) -> Iterator[Diagnostic]:
    """The note TW5037 of a plan in which values are computed again: which, and before which steps."""
    before = dict[str, list[str]]()
    for one in allocated.decisions.recomputed:
        for reader in one.readers[:1]:
            before.setdefault(first_name(one.value), []).append(first_name(reader))
    if before:
        yield Diagnostic(
            code="TW5037",
            severity="note",
            message=f"{_counted(len(before))} computed again instead of being kept, which takes less memory",
            details=tuple(f"'{value}' before {_listed(list(dict.fromkeys(names)))}" for value, names in before.items()),
        )


def _smaller(planner: Planner, plan: Allocated, found: Callable[[Bound], Answer]) -> Allocated:
    speed = planner.optimize == "speed"
    before = layers_cycles(plan.tiled.scheduled)
    most = (1 + _FREE) * before if speed else plan_cycles(plan) + _MOST * before
    least_saved = _LEAST_SAVED if speed else 1
    wanted, saved = _worth(planner, plan.tiled.scheduled, most - plan_cycles(plan))
    if saved < least_saved:
        return plan
    other = found(recomputed(plan.tiled.scheduled.bound, wanted))
    if not isinstance(other, Allocated) or plan_cycles(other) > most:
        return plan
    return _saying(other, wanted) if ram_bytes(other) <= ram_bytes(plan) - least_saved else plan


def _worth(planner: Planner, scheduled: Scheduled, most_cycles: float) -> tuple[tuple[Recomputation, ...], int]:
    never = {one.value for one in planner.pins.recomputed}
    return recomputations(scheduled.bound, planner.orders(), planner.operators, most_cycles, never)


def _crowded(misfits: tuple[PlanFailure, ...]) -> Iterator[Scheduled]:
    """What a memory was too small for with the fastest kernels, and with those of least scratch."""
    crowded = [one.tiled.scheduled for one in misfits if one.tiled and one.overflow and not one.of_constants]
    yield from crowded[:1]
    yield from crowded[1:][-1:]


def _saying(plan: Allocated, wanted: tuple[Recomputation, ...]) -> Allocated:
    return replace(plan, decisions=replace(plan.decisions, recomputed=(*plan.decisions.recomputed, *wanted)))


def _counted(values: int) -> str:
    return "1 value is" if values == 1 else f"{values} values are"


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"'{name}'" for name in names)
    return f"{', '.join(others)} and {last}" if others else last
