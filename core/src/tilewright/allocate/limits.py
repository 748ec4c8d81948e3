"""Knows what a plan takes of each memory, all its arrays together, which limits it exceeds, and how far soft limits are
raised: as little as it takes, and only where nothing else helps. Does not know how anything is placed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.allocate.packing.permanent import pack_in_order
from tilewright.allocate.request import Request, arrangements, arrays_bytes, beside, taken_bytes
from tilewright.allocate.solving import solved
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.errors import Diagnostic, typed
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.allocation import Allocator, Budget, Problem, Solution
from tilewright.ir.plans.stages import Allocated


def memory_bytes(allocated: Allocated, memory: str) -> int:
    """Bytes of all arrays of a memory."""
    align = allocated.tiled.scheduled.bound.platform.memory(memory).align
    return arrays_bytes((pool.used_bytes for pool in allocated.pools if pool.memory == memory), align)


def exceeded_bytes(allocated: Allocated, memory: str) -> int:
    """Bytes over the memory's limit; 0 inside it, or without one."""
    limit = allocated.tiled.scheduled.bound.platform.plan_bytes(memory)
    return 0 if limit is None else max(memory_bytes(allocated, memory) - limit, 0)


def beyond_machine_warnings(platform: Platform) -> tuple[Diagnostic, ...]:
    """A warning TW5034 for every limit that is larger than the memory of the machine."""
    return tuple(
        Diagnostic(
            code="TW5034",
            severity="warning",
            message=f"memory '{memory.name}' is given {memory.size_bytes:,} B, the machine has "
            f"{memory.machine_bytes:,} B: a program that takes more does not link",
            where=f"memory {memory.name}",
            fix=(typed("--memory", f"{memory.name}={memory.machine_bytes}"),),
        )
        for memory in platform.memories
        if memory.machine_bytes is not None and (memory.size_bytes or 0) > memory.machine_bytes
    )


def soft_limit_warnings(allocated: Allocated) -> tuple[Diagnostic, ...]:
    """A warning TW5031 for every soft limit that the plan exceeds."""
    platform = allocated.tiled.scheduled.bound.platform
    warnings = []
    for memory in platform.memories:
        excess = exceeded_bytes(allocated, memory.name) if memory.soft else 0
        if excess:
            limit = platform.plan_bytes(memory.name) or 0
            warnings.append(
                Diagnostic(
                    code="TW5031",
                    severity="warning",
                    message=f"soft limit exceeded: memory '{memory.name}' needs {limit + excess:,} B, its limit is "
                    f"{limit:,} B ({excess:,} B more)",
                    where=f"pool {memory.name}",
                    fix=(f"leave `soft` out of pool '{memory.name}', which makes the limit hard",),
                )
            )
    return tuple(warnings)


ROUNDS = 12  # halvings of the excess
ENOUGH = 16  # bytes between the largest excess that does not do and the smallest that does

Limits = Mapping[str, int | None]


def raised_limits(question: Request, platform: Platform, allocator: Allocator, budget: Budget) -> Request | None:
    """The same request with soft limits that are just high enough; None where no limit is soft, or none helps."""
    soft = {memory.name: platform.plan_bytes(memory.name) or 0 for memory in platform.memories if memory.soft}
    soft = {name: size for name, size in soft.items() if platform.plan_bytes(name) is not None}
    if not soft:
        return None
    used = _used(_with_limits(question, dict.fromkeys(soft)), platform, allocator, budget)
    if used is None:
        return None
    low, high = soft, {name: max(size, used[name]) for name, size in soft.items()}
    for _ in range(ROUNDS):
        middle = {name: (low[name] + high[name]) // 2 for name in soft}
        if sum(high.values()) - sum(low.values()) < ENOUGH:
            break
        used = _used(_with_limits(question, middle), platform, allocator, budget)
        if used is None:
            low = middle
        else:
            high = {name: max(soft[name], used[name]) for name in soft}
    return _with_limits(question, high)


def _used(question: Request, platform: Platform, allocator: Allocator, budget: Budget) -> dict[str, int] | None:
    """Bytes of every memory in the first plan that is found; None where no plan is found."""
    constants = _constants(question.constants, allocator, budget)
    if constants is None:
        return None
    for arrays in arrangements(question.regions, platform):
        taken = {pool.name: taken_bytes(arrays, platform.memory(pool.name)) for pool in question.problem.pools}
        if any(
            pool.capacity_bytes is not None and taken[pool.name] > pool.capacity_bytes
            for pool in question.problem.pools
        ):
            continue
        problem = beside(question.problem, arrays, platform)
        solution = solved(problem, allocator, budget)
        if solution.status in ("optimal", "feasible"):
            used = peaks(problem, solution)
            return {**constants, **{name: taken_bytes(arrays, platform.memory(name), used[name]) for name in used}}
    return None


def _constants(problem: Problem, allocator: Allocator, budget: Budget) -> dict[str, int] | None:
    simple = Solution(status="feasible", places=pack_in_order(problem))
    if not violations(problem, simple):
        return peaks(problem, simple)
    answer = solved(problem, allocator, budget)
    return peaks(problem, answer) if answer.status in ("optimal", "feasible") else None


def _with_limits(question: Request, limits: Limits) -> Request:
    return replace(question, problem=_limited(question.problem, limits), constants=_limited(question.constants, limits))


def _limited(problem: Problem, limits: Limits) -> Problem:
    pools = tuple(replace(pool, capacity_bytes=limits.get(pool.name, pool.capacity_bytes)) for pool in problem.pools)
    return replace(problem, pools=pools)
