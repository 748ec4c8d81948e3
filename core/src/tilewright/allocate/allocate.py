"""Knows the `allocate` stage: from a Tiled to an Allocated, or to the reason why it does not fit.
Does not know how to place blocks (an Allocator does), and believes no allocator: `check` has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tilewright.allocate.aliases.aliased_buffers import as_proved
from tilewright.allocate.auto import cost
from tilewright.allocate.limits import raised_limits
from tilewright.allocate.overflow import Overflow, does_not_fit, overflow_of
from tilewright.allocate.packing.lower_bound import bytes_away, least_bytes_away, lower_bounds
from tilewright.allocate.packing.permanent import pack_in_order, packed_by_preference
from tilewright.allocate.request import PlacedArray, Request, arrangements, beside, relaxed, request, taken_bytes
from tilewright.allocate.solving import solved
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.errors import TilewrightError, memory_error
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.allocation import Allocator, Budget, Place, Problem, Solution
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.stages import Allocated, Buffer, BytesAway, Placement, PoolUse, Tiled

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
    platform = tiled.scheduled.bound.platform
    settled = _best(tiled, request(tiled, decisions), allocator, budget)
    if isinstance(settled, Overflow):
        return settled
    asked, found = settled
    laid, solution, constants = found
    places = {**solution.places, **constants.places, **{name: at for one in laid for name, at in one.places.items()}}
    placements = _placements(tiled, asked, places)
    pools = (
        *_pool_uses(asked.problem, solution, platform),
        *_pool_uses(asked.constants, constants, platform),
        *_region_uses(laid, platform),
        *_application_uses(tiled, asked.application),
    )
    order = [memory.name for memory in platform.memories]
    return Allocated(
        tiled=tiled,
        placements=placements,
        pools=tuple(sorted(pools, key=lambda pool: order.index(pool.memory))),
        away=tuple(_away(asked, found)),
        decisions=_complete(tiled, decisions, placements, solution.found_by),
        plan_id=plan_id(tiled, placements),
    )


def constants_overflow(
    constants: Tiled, decisions: Decisions, allocator: Allocator, budget: Budget = _DEFAULT_BUDGET
) -> Overflow | None:
    """Constants that are too many for the hard limits of their memories, with no other buffer placed; None where the
    sum of their bytes does not say so.
    """
    platform = constants.scheduled.bound.platform
    limits = [platform.hard_bytes(memory.name) for memory in platform.of_kind("const")]
    sizes = {buffer.name: buffer.size_bytes for buffer in constants.buffers if buffer.kind == "constant"}
    if any(limit is None for limit in limits) or sum(sizes.values()) <= sum(limit or 0 for limit in limits):
        return None
    offsets = {name: offset for name, offset in decisions.offsets.items() if name in sizes}
    asked = request(constants, replace(decisions, offsets=offsets))
    answer = _placed_constants(constants, asked.constants, allocator, budget)
    return answer if isinstance(answer, Overflow) else None


Found = tuple[tuple[PlacedArray, ...], Solution, Solution]  # regions, the pools of RAM, the pools of constants


def _best(tiled: Tiled, asked: Request, allocator: Allocator, budget: Budget) -> tuple[Request, Found] | Overflow:
    """Of all ways to ask: what takes least, of equals the first; the first overflow where none fits that is smaller."""
    best = _settled(tiled, asked, allocator, budget)
    for problem in asked.others:
        if isinstance(best, Overflow) or _used(best) > sum(lower_bounds(problem).values()):
            other = _settled(tiled, replace(asked, problem=problem), allocator, budget)
            best = min(best, other, key=_merit)
    return best


def _merit(answer: tuple[Request, Found] | Overflow) -> tuple[bool, int]:
    return (True, answer.excess_bytes) if isinstance(answer, Overflow) else (False, _used(answer))


def _used(settled: tuple[Request, Found]) -> int:
    asked, (_, solution, _) = settled
    return sum(peaks(asked.problem, solution).values())


def _settled(tiled: Tiled, asked: Request, allocator: Allocator, budget: Budget) -> tuple[Request, Found] | Overflow:
    """One way to ask, with soft limits raised where nothing else helps."""
    found = _found(tiled, asked, allocator, budget)
    if not isinstance(found, Overflow):
        return asked, found
    raised = raised_limits(asked, tiled.scheduled.bound.platform, allocator, budget)
    if raised is None:
        return found
    found = _found(tiled, raised, allocator, budget)
    return found if isinstance(found, Overflow) else (raised, found)


def _found(tiled: Tiled, asked: Request, allocator: Allocator, budget: Budget) -> Found | Overflow:
    """The first choice of memories for the regions beside which everything else has room."""
    constants = _placed_constants(tiled, asked.constants, allocator, budget)
    if isinstance(constants, Overflow):
        return constants
    first: Overflow | None = None
    for laid in arrangements(asked.regions, tiled.scheduled.bound.platform):
        answer = _crowded(tiled, asked, laid, allocator, budget) or _solved(tiled, asked, laid, allocator, budget)
        if isinstance(answer, Solution):
            return laid, answer, constants
        first = first or answer
    if first is None:
        raise RuntimeError("there is always one arrangement of the regions, if only of none")
    return first


def _crowded(
    tiled: Tiled, asked: Request, laid: tuple[PlacedArray, ...], allocator: Allocator, budget: Budget
) -> Overflow | None:
    """The memory that the regions alone are too much for, with all else that it would have to hold."""
    platform, problem = tiled.scheduled.bound.platform, asked.problem
    for pool in problem.pools:
        if pool.capacity_bytes is not None and taken_bytes(laid, platform.memory(pool.name)) > pool.capacity_bytes:
            loose = solved(relaxed(problem, tuple(each.name for each in problem.pools)), allocator, budget)
            return _overflow(tiled, problem, loose, pool.name, laid)
    return None


def _placed_constants(tiled: Tiled, problem: Problem, allocator: Allocator, budget: Budget) -> Solution | Overflow:
    """One after the other where everything is in its preferred memory then; else every memory as full as can be;
    where that does not fit, or offsets are demanded, the better of one after the other and what the allocator finds.
    """
    simple = Solution(status="feasible", places=pack_in_order(problem), bounds=lower_bounds(problem))
    wrong = violations(problem, simple)
    if not wrong and all(simple.places[block.name].pool == block.pools[0] for block in problem.blocks):
        return simple
    divided = replace(simple, places=packed_by_preference(problem) or simple.places)
    if divided.places != simple.places and not violations(problem, divided):
        return divided if wrong or cost(problem, divided) < cost(problem, simple) else simple
    answer = solved(problem, allocator, budget)
    if answer.status in ("optimal", "feasible"):
        return answer if wrong or cost(problem, answer) < cost(problem, simple) else simple
    if not wrong:
        return simple
    used = peaks(problem, simple)
    for pool in problem.pools:
        if pool.capacity_bytes is not None and used[pool.name] > pool.capacity_bytes:
            return _overflow(tiled, problem, simple, pool.name, ())
    raise _no_placement(wrong[0])


def _solved(
    tiled: Tiled, asked: Request, laid: tuple[PlacedArray, ...], allocator: Allocator, budget: Budget
) -> Solution | Overflow:
    problem = beside(asked.problem, laid, tiled.scheduled.bound.platform)
    solution = solved(problem, allocator, budget)
    if solution.status in ("optimal", "feasible"):
        return as_proved(problem, solution, asked.chosen)
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
            return _overflow(tiled, asked.problem, loose, worst, laid)
        if not violations(problem, loose):
            return as_proved(problem, replace(loose, status="feasible"), asked.chosen)
    raise _no_placement(solution.reason or "the allocator found no plan, even without limits")


def _no_placement(reason: str) -> TilewrightError:
    return memory_error(
        "TW5004", f"no placement is possible: {reason}", fix=("change or remove pinned memories and offsets",)
    )


def _overflow(
    tiled: Tiled, problem: Problem, solution: Solution, memory: str, laid: tuple[PlacedArray, ...]
) -> Overflow:
    """Of what the memory has, the regions in it included, which `problem` leaves out."""
    lasting = {name: at for one in laid for name, at in one.places.items()}
    places = {**solution.places, **lasting}
    inside = tuple(one for one in tiled.buffers if one.name in places and places[one.name].pool == memory)
    choices = {block.name: block.pools for block in problem.blocks}
    capacity = next(pool.capacity_bytes for pool in problem.pools if pool.name == memory)
    home = tiled.scheduled.bound.platform.memory(memory)
    needed, least = (taken_bytes(laid, home, used[memory]) for used in (peaks(problem, solution), solution.bounds))
    pinned = tuple(
        buffer.name for buffer in inside if len(buffer.memories) > 1 and choices.get(buffer.name) == (memory,)
    )
    return overflow_of(tiled, memory, inside, needed, capacity or 0, least, pinned)


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


def _pool_uses(problem: Problem, solution: Solution, platform: Platform) -> list[PoolUse]:
    used, bounds = peaks(problem, solution), solution.bounds
    return [
        PoolUse(
            memory=pool.name,
            kind=platform.memory(pool.name).kind,
            used_bytes=used[pool.name],
            limit_bytes=platform.plan_bytes(pool.name),
            lower_bound_bytes=bounds[pool.name],
            optimal=solution.status == "optimal" or used[pool.name] == bounds[pool.name],
            soft=platform.memory(pool.name).soft,
        )
        for pool in problem.pools
    ]


def _away(asked: Request, found: Found) -> Iterator[BytesAway]:
    """Of buffers, and of constants. What an exact search has proved counts where it had no choice made before it."""
    _, solution, constants = found
    free = not asked.chosen and all(len(region.memories) == 1 for region in asked.regions)
    yield from _away_of("ram", asked.problem, solution, proved=free and solution.status == "optimal")
    yield from _away_of("const", asked.constants, constants, proved=constants.status == "optimal")


def _away_of(
    kind: Literal["ram", "const"], problem: Problem, solution: Solution, *, proved: bool
) -> Iterator[BytesAway]:
    if any(len(block.pools) > 1 for block in problem.blocks):
        used = bytes_away(problem, solution)
        least = used if proved or not used else least_bytes_away(problem)
        yield BytesAway(kind=kind, used_bytes=used, lower_bound_bytes=least)


def _region_uses(laid: Sequence[PlacedArray], platform: Platform) -> list[PoolUse]:
    return [
        PoolUse(
            memory=one.memory,
            kind=one.kind,
            used_bytes=one.size_bytes,
            limit_bytes=platform.plan_bytes(one.memory),
            lower_bound_bytes=one.size_bytes,
            optimal=True,
            soft=platform.memory(one.memory).soft,
        )
        for one in laid
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
    tiles = {one.name: one for one in tiled.regions if one.together or one.resident}
    groups = tuple(group.steps for group in tiled.groups if len(group.steps) > 1) or decisions.groups
    return replace(
        decisions,
        in_place={**decisions.in_place, **tiled.scheduled.in_place},
        memories=memories,
        offsets=offsets,
        groups=groups,
        tiles=tiles,
        allocator=allocator,
    )
