"""Knows the plan of least memory on a machine with one: with kernels of less scratch, where scratch is in the way.
Does not know how any plan is found: it asks for those that fit within limits.

A limit already leads to the fastest kernels whose scratch fits (`kernel_fallback`). What remains is the smallest one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.line_buffer_bound import line_buffers_possible
from tilewright.plan.line_buffers.choice import less_scratch_pays
from tilewright.plan.line_buffers.plan_costs import cycle_ratio
from tilewright.plan.proposals.other_kernels import slower_kernels
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.proposals.shortfall import KernelChoice, PlanFailure, choice_of
from tilewright.plan.suggestions import with_memories

Answer = Allocated | tuple[PlanFailure, ...]


def with_least_memory(planner: Planner, bound: Bound, answer: Answer, found: Callable[[Bound], Answer]) -> Answer:
    """The answer; where less memory is asked for, a plan with kernels of less scratch if it takes less, for not too
    many cycles. `found` plans with a binding, of which `bound` has the fastest kernels.
    """
    if not isinstance(answer, Allocated) or planner.optimize == "speed" or planner.first_fit:
        return answer
    least = least_plan(planner, bound, answer, found)
    pays = least is not None and less_scratch_pays(_cost(least), _cost(answer), planner.optimize)
    return least if least is not None and pays else answer


def _cost(plan: Allocated) -> tuple[int, float]:
    return ram_bytes(plan), cycle_ratio(plan)


def least_plan(planner: Planner, bound: Bound, plan: Allocated, found: Callable[[Bound], Answer]) -> Allocated | None:
    """The plan in the fewest bytes that any kernels were found to take, with the fastest that these leave room for;
    None where that is no less than `plan` takes, or the machine has several memories.
    """
    memories = bound.platform.of_kind("ram")
    if len(memories) != 1 or not line_buffers_possible(planner, bound.platform) or not _is_less(planner, plan):
        return None
    name = memories[0].name
    failures = found(with_memories(bound, {name: 1}))
    needed = () if isinstance(failures, Allocated) else (failure.overflow for failure in failures)
    sizes = [overflow.needed_bytes for overflow in needed if overflow is not None and overflow.memory == name]
    if min(sizes, default=ram_bytes(plan)) >= ram_bytes(plan):
        return None
    result = found(with_memories(bound, {name: bound.platform.size_for(name, min(sizes))}))
    if not isinstance(result, Allocated) or ram_bytes(result) >= ram_bytes(plan):
        return None
    return _without_limit(result, bound)


def _is_less(planner: Planner, plan: Allocated) -> bool:
    """Whether a step of the plan has a kernel that needs less scratch than its own."""
    choice = choice_of(plan.tiled.scheduled.bound, planner.operators, planner.pins)
    return any(_may_have_less(choice, step.name) for step in plan.tiled.scheduled.steps)


def _may_have_less(choice: KernelChoice, step: str) -> bool:
    others = choice.candidates(step, {})
    used = choice.used(step) if others else 0
    return used > 0 and any(choice.scratch(step, other.kernel) < used for other in others)


def _without_limit(plan: Allocated, first: Bound) -> Allocated:
    """The plan on the machine as it is; its note about other kernels does not say that memory is short."""
    tiled, bound = plan.tiled, plan.tiled.scheduled.bound
    others = (note for note in bound.diagnostics if note.code not in ("TW5035", "TW5039"))
    notes = (*others, *slower_kernels(bound, first, ()))
    named = (binding.kernel.name for binding in bound.bindings.values())
    platform: Platform = first.platform.running(named)
    real = replace(bound, platform=platform, diagnostics=notes)
    pools = tuple(replace(pool, limit_bytes=platform.plan_bytes(pool.memory)) for pool in plan.pools)
    return replace(plan, tiled=replace(tiled, scheduled=replace(tiled.scheduled, bound=real)), pools=pools)
