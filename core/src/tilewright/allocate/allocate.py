"""Knows the `allocate` stage: from a Tiled to an Allocated, or to the reason why it does not fit.
Does not know how to place blocks (an Allocator does), and believes no allocator: `check` has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tilewright.allocate.aliases.aliased_buffers import as_proved
from tilewright.allocate.auto import cost
from tilewright.allocate.bank_places import in_banks, not_in_banks
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
from tilewright.ir.plans.operand_banks import bank_faults
from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.stages import Allocated, BytesAway, Placement, PoolUse, Tiled

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
    question, placed = settled
    arrays, solution, constants = placed
    places = {
        **solution.places,
        **constants.places,
        **{name: at for array in arrays for name, at in array.places.items()},
    }
    placements = _placements(tiled, question, places)
    pools = (
        *_pool_uses(question.problem, solution, platform),
        *_pool_uses(question.constants, constants, platform),
        *_region_uses(arrays, platform),
        *_application_uses(tiled, question.application),
    )
    order = [memory.name for memory in platform.memories]
    plan = Allocated(
        tiled=tiled,
        placements=placements,
        pools=tuple(sorted(pools, key=lambda pool: order.index(pool.memory))),
        away=tuple(_away(question, placed)),
        decisions=_complete(tiled, decisions, placements, solution.found_by),
        plan_id=plan_id(tiled, placements),
    )
    if fault := next(bank_faults(plan), ""):  # of what no allocator places
        raise not_in_banks(question.demands[0], fault)
    return plan


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
    question = request(constants, replace(decisions, offsets=offsets))
    answer = _placed_constants(constants, question.constants, allocator, budget)
    return answer if isinstance(answer, Overflow) else None


Placed = tuple[tuple[PlacedArray, ...], Solution, Solution]  # regions, the pools of RAM, the pools of constants


def _best(tiled: Tiled, question: Request, allocator: Allocator, budget: Budget) -> tuple[Request, Placed] | Overflow:
    """Of all candidates for the problem the plan that takes least, of equals the first; else the least overflow."""
    best = _settled(tiled, question, allocator, budget)
    for problem in question.others:
        if isinstance(best, Overflow) or _used(best) > sum(lower_bounds(problem).values()):
            other = _settled(tiled, replace(question, problem=problem), allocator, budget)
            best = min(best, other, key=_merit)
    return best


def _merit(answer: tuple[Request, Placed] | Overflow) -> tuple[bool, int]:
    return (True, answer.excess_bytes) if isinstance(answer, Overflow) else (False, _used(answer))


def _used(settled: tuple[Request, Placed]) -> int:
    question, (_, solution, _) = settled
    return sum(peaks(question.problem, solution).values())


def _settled(
    tiled: Tiled, question: Request, allocator: Allocator, budget: Budget
) -> tuple[Request, Placed] | Overflow:
    """The plan for one problem, with soft limits raised where nothing else helps."""
    answer = _placed(tiled, question, allocator, budget)
    if not isinstance(answer, Overflow):
        return question, answer
    raised = raised_limits(question, tiled.scheduled.bound.platform, allocator, budget)
    if raised is None:
        return answer
    answer = _placed(tiled, raised, allocator, budget)
    return answer if isinstance(answer, Overflow) else (raised, answer)


def _placed(tiled: Tiled, question: Request, allocator: Allocator, budget: Budget) -> Placed | Overflow:
    """The plan with the first choice of memories for the lasting arrays that leaves enough for all other blocks."""
    constants = _placed_constants(tiled, question.constants, allocator, budget)
    if isinstance(constants, Overflow):
        return constants
    first: Overflow | None = None
    for arrays in arrangements(question.regions, tiled.scheduled.bound.platform):
        answer = _too_small_for_arrays(tiled, question, arrays, allocator, budget) or _solved(
            tiled, question, arrays, allocator, budget
        )
        if isinstance(answer, Solution):
            return arrays, answer, constants
        first = first or answer
    if first is None:
        raise RuntimeError("there is always one arrangement of the regions, if only of none")
    return first


def _too_small_for_arrays(
    tiled: Tiled, question: Request, arrays: tuple[PlacedArray, ...], allocator: Allocator, budget: Budget
) -> Overflow | None:
    """The overflow of a memory that has not even bytes enough for its lasting arrays; None where all have."""
    platform, problem = tiled.scheduled.bound.platform, question.problem
    for pool in problem.pools:
        if pool.capacity_bytes is not None and taken_bytes(arrays, platform.memory(pool.name)) > pool.capacity_bytes:
            loose = solved(relaxed(problem, tuple(other.name for other in problem.pools)), allocator, budget)
            return _overflow(tiled, problem, loose, pool.name, arrays)
    return None


def _placed_constants(tiled: Tiled, problem: Problem, allocator: Allocator, budget: Budget) -> Solution | Overflow:
    """Constants one after the other where that puts each into its preferred memory; else every memory as full as can
    be; where that does not fit, or offsets are demanded, the better of one after the other and the allocator's plan.
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
    tiled: Tiled, question: Request, arrays: tuple[PlacedArray, ...], allocator: Allocator, budget: Budget
) -> Solution | Overflow:
    problem = beside(question.problem, arrays, tiled.scheduled.bound.platform)
    solution = solved(problem, allocator, budget)
    if solution.status in ("optimal", "feasible"):
        solution = as_proved(problem, solution, question.chosen)
        return in_banks(tiled, question.demands, problem, solution, allocator, budget) if question.demands else solution
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
            return _overflow(tiled, question.problem, loose, worst, arrays)
        if not violations(problem, loose):
            return as_proved(problem, replace(loose, status="feasible"), question.chosen)
    raise _no_placement(solution.reason or "the allocator found no plan, even without limits")


def _no_placement(reason: str) -> TilewrightError:
    return memory_error(
        "TW5004", f"no placement is possible: {reason}", fix=("change or remove pinned memories and offsets",)
    )


def _overflow(
    tiled: Tiled, problem: Problem, solution: Solution, memory: str, arrays: tuple[PlacedArray, ...]
) -> Overflow:
    """The overflow of all that is in the memory, also of arrays that last from run to run, which `problem` lacks."""
    lasting = {name: at for array in arrays for name, at in array.places.items()}
    places = {**solution.places, **lasting}
    inside = tuple(buffer for buffer in tiled.buffers if buffer.name in places and places[buffer.name].pool == memory)
    choices = {block.name: block.pools for block in problem.blocks}
    capacity = next(pool.capacity_bytes for pool in problem.pools if pool.name == memory)
    of_machine = tiled.scheduled.bound.platform.memory(memory)
    needed, least = (
        taken_bytes(arrays, of_machine, used[memory]) for used in (peaks(problem, solution), solution.bounds)
    )
    pinned = tuple(
        buffer.name for buffer in inside if len(buffer.memories) > 1 and choices.get(buffer.name) == (memory,)
    )
    return overflow_of(tiled, memory, inside, needed, capacity or 0, least, pinned)


def _placements(tiled: Tiled, question: Request, places: Mapping[str, Place]) -> dict[str, Placement]:
    """In the order of the buffers. In a memory that the application manages the offset means nothing and is 0."""
    placements = {}
    for buffer in tiled.buffers:
        if buffer.name in question.application:
            placements[buffer.name] = Placement(memory=question.application[buffer.name], offset_bytes=0)
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


def _away(question: Request, answer: Placed) -> Iterator[BytesAway]:
    """Bytes of buffers and of constants that are not in their preferred memories. The proof of an exact search counts
    where no choice was made before it.
    """
    _, solution, constants = answer
    free = not question.chosen and all(len(region.memories) == 1 for region in question.regions)
    yield from _away_of("ram", question.problem, solution, proved=free and solution.status == "optimal")
    yield from _away_of("const", question.constants, constants, proved=constants.status == "optimal")


def _away_of(
    kind: Literal["ram", "const"], problem: Problem, solution: Solution, *, proved: bool
) -> Iterator[BytesAway]:
    if any(len(block.pools) > 1 for block in problem.blocks):
        used = bytes_away(problem, solution)
        least = used if proved or not used else least_bytes_away(problem)
        yield BytesAway(kind=kind, used_bytes=used, lower_bound_bytes=least)


def _region_uses(arrays: Sequence[PlacedArray], platform: Platform) -> list[PoolUse]:
    return [
        PoolUse(
            memory=array.memory,
            kind=array.kind,
            used_bytes=array.size_bytes,
            limit_bytes=platform.plan_bytes(array.memory),
            lower_bound_bytes=array.size_bytes,
            optimal=True,
            soft=platform.memory(array.memory).soft,
        )
        for array in arrays
    ]


def _application_uses(tiled: Tiled, application: Mapping[str, str]) -> list[PoolUse]:
    """What the application's own allocator must offer at least: the most bytes alive at once."""
    platform = tiled.scheduled.bound.platform
    uses = []
    for memory in platform.memories:
        if memory.managed_by != "application":
            continue
        inside = [buffer for buffer in tiled.buffers if application.get(buffer.name) == memory.name]
        at_births = (
            sum(other.size_bytes for other in inside if other.first <= buffer.first <= other.last) for buffer in inside
        )
        most = max(at_births, default=0)
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
    tiles = {region.name: region for region in tiled.regions if region.together or region.resident}
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
