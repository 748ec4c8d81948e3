"""Knows the `allocate` stage: from a Tiled to an Allocated, or to the reason why it does not fit.
Does not know how to place blocks (an Allocator does), and believes no allocator: `check` has the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilewright.allocate.bound import lower_bounds
from tilewright.allocate.check import peaks, violations
from tilewright.allocate.identity import plan_id
from tilewright.allocate.overflow import Overflow, does_not_fit, overflow_of
from tilewright.allocate.problem import Allocator, Budget, Place, Problem, Solution
from tilewright.allocate.request import Request, pack_constants, relaxed, request
from tilewright.allocate.solving import solved
from tilewright.decisions import Decisions
from tilewright.errors import TilewrightError, memory_error
from tilewright.stages import Allocated, Buffer, Placement, PoolUse, Tiled

_DEFAULT_BUDGET = Budget()


def allocate(tiled: Tiled, decisions: Decisions, allocator: Allocator, budget: Budget = _DEFAULT_BUDGET) -> Allocated:
    """Give every buffer a memory and an offset, checked.

    Raises TilewrightError TW5001 (exit 5) when it does not fit, TW5002 or TW5003 (exit 2) for pins that make no
    sense, TW5004 (exit 5) when pins or alignments rule out every placement, TW8050 (exit 8) when the allocator's
    answer is wrong.
    """
    answer = attempt(tiled, decisions, allocator, budget)
    if isinstance(answer, Overflow):
        raise does_not_fit(tiled, answer)
    return answer


def attempt(
    tiled: Tiled, decisions: Decisions, allocator: Allocator, budget: Budget = _DEFAULT_BUDGET
) -> Allocated | Overflow:
    """The same, for a planner: not fitting is an answer, not an error."""
    asked = request(tiled, decisions)
    constants = _placed_constants(tiled, asked.constants)
    if isinstance(constants, Overflow):
        return constants
    solution = _solved(tiled, asked.problem, allocator, budget)
    if isinstance(solution, Overflow):
        return solution
    placements = _placements(tiled, asked, {**solution.places, **constants.places})
    pools = (
        *_pool_uses(asked.problem, solution, "ram"),
        *_pool_uses(asked.constants, constants, "const"),
        *_application_uses(tiled, asked.application),
    )
    order = [memory.name for memory in tiled.scheduled.bound.platform.memories]
    return Allocated(
        tiled=tiled,
        placements=placements,
        pools=tuple(sorted(pools, key=lambda pool: order.index(pool.memory))),
        decisions=_complete(tiled, decisions, placements, solution.found_by),
        plan_id=plan_id(tiled, placements),
    )


def _placed_constants(tiled: Tiled, problem: Problem) -> Solution | Overflow:
    places = pack_constants(problem)
    solution = Solution(status="feasible", places=places, bounds=lower_bounds(problem))
    used = peaks(problem, solution)
    for pool in problem.pools:
        if pool.capacity_bytes is not None and used[pool.name] > pool.capacity_bytes:
            return _overflow(tiled, problem, solution, pool.name)
    wrong = violations(problem, solution)
    if wrong:
        raise _no_placement(wrong[0])
    return solution


def _solved(tiled: Tiled, problem: Problem, allocator: Allocator, budget: Budget) -> Solution | Overflow:
    solution = solved(problem, allocator, budget)
    if solution.status in ("optimal", "feasible"):
        return solution
    bounds = solution.bounds or lower_bounds(problem)
    limited = [pool for pool in reversed(problem.pools) if pool.capacity_bytes is not None]
    proved = [pool for pool in limited if bounds[pool.name] > (pool.capacity_bytes or 0)]
    for group in [(pool.name,) for pool in proved or limited] + [tuple(pool.name for pool in limited)]:
        loose = solved(relaxed(problem, group), allocator, budget)
        if loose.status not in ("optimal", "feasible"):
            continue
        used = peaks(problem, loose)
        beyond = {pool.name: used[pool.name] - (pool.capacity_bytes or 0) for pool in limited}
        worst = max(beyond, key=lambda name: beyond[name])
        if beyond[worst] > 0:
            return _overflow(tiled, problem, loose, worst)
        if not violations(problem, loose):
            return replace(loose, status="feasible")
    raise _no_placement(solution.reason or "the allocator found no plan, even without limits")


def _no_placement(reason: str) -> TilewrightError:
    return memory_error(
        "TW5004", f"no placement is possible: {reason}", fix=("change or remove pinned memories and offsets",)
    )


def _overflow(tiled: Tiled, problem: Problem, solution: Solution, memory: str) -> Overflow:
    inside = tuple(
        buffer
        for buffer in tiled.buffers
        if buffer.name in solution.places and solution.places[buffer.name].pool == memory
    )
    capacity = next(pool.capacity_bytes for pool in problem.pools if pool.name == memory)
    needed = peaks(problem, solution)[memory]
    return overflow_of(tiled, memory, inside, needed, capacity or 0, solution.bounds[memory])


def _placements(tiled: Tiled, asked: Request, places: Mapping[str, Place]) -> dict[str, Placement]:
    """In the order of the buffers. In a memory that the application manages the offset means nothing and is 0."""
    placements = {}
    for buffer in tiled.buffers:
        if buffer.name in asked.application:
            placements[buffer.name] = Placement(memory=asked.application[buffer.name], offset_bytes=0)
        elif buffer.name in places:
            place = places[buffer.name]
            placements[buffer.name] = Placement(memory=place.pool, offset_bytes=place.offset_bytes)
    return placements


def _pool_uses(problem: Problem, solution: Solution, kind: str) -> list[PoolUse]:
    used, bounds = peaks(problem, solution), solution.bounds
    return [
        PoolUse(
            memory=pool.name,
            kind="const" if kind == "const" else "ram",
            used_bytes=used[pool.name],
            limit_bytes=pool.capacity_bytes,
            lower_bound_bytes=bounds[pool.name],
            optimal=solution.status == "optimal" or used[pool.name] == bounds[pool.name],
        )
        for pool in problem.pools
    ]


def _application_uses(tiled: Tiled, application: Mapping[str, str]) -> list[PoolUse]:
    """What the application's own allocator must offer at least: the most bytes alive at once."""
    platform = tiled.scheduled.bound.platform
    uses = []
    for memory in platform.memories:
        if memory.managed_by != "application":
            continue
        inside = [buffer for buffer in tiled.buffers if application.get(buffer.name) == memory.name]
        most = max((_alive(inside, buffer.first) for buffer in inside), default=0)
        uses.append(
            PoolUse(
                memory=memory.name,
                kind=memory.kind,
                used_bytes=most,
                limit_bytes=platform.plan_bytes(memory.name),
                lower_bound_bytes=most,
                optimal=True,
            )
        )
    return uses


def _alive(buffers: list[Buffer], step: int) -> int:
    return sum(buffer.size_bytes for buffer in buffers if buffer.first <= step <= buffer.last)


def _complete(tiled: Tiled, decisions: Decisions, placements: Mapping[str, Placement], allocator: str) -> Decisions:
    """The decisions with every place filled in: pinned, they give this plan again."""
    memories = dict(decisions.memories)
    for buffer in tiled.buffers:
        if buffer.name in placements:
            memories.update(dict.fromkeys((buffer.name, *buffer.values), placements[buffer.name].memory))
    application = {
        memory.name for memory in tiled.scheduled.bound.platform.memories if memory.managed_by != "tilewright"
    }
    offsets = {name: place.offset_bytes for name, place in placements.items() if place.memory not in application}
    tiles = {group.name: group.tile for group in tiled.groups if group.tile.hops}
    return replace(decisions, memories=memories, offsets=offsets, tiles=tiles, allocator=allocator)
