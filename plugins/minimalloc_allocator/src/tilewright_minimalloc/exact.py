"""Knows the allocator `minimalloc`: which of its means a problem gets, and what may be said of the answer.
Does not know how any of them works.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tilewright.api.allocator import Block, Budget, Place, Problem, Solution, lower_bounds, stack
from tilewright_minimalloc.native import NativeSearch, extension
from tilewright_minimalloc.pools import Ground, Plan, divide
from tilewright_minimalloc.portfolio import MakeSearch
from tilewright_minimalloc.search import PythonSearch

_MOST_MEMBERSHIPS = 2_000_000  # of blocks in sections; what is larger is stacked, not searched
_MOST_STEPS = {"python": 10**6, "native": 10**8}  # blocks times sections, about the time of a search without errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """Minimises the sum of the pools' peaks after using preferred pools as much as it can, and proves it if it can.

    One unit of work is one node of the search. Hints are not used. `form` chooses between two programs that take the
    same steps: "python", or "native" (C) where the package was built with a compiler; "" takes the faster one there is.
    """

    name: str = "minimalloc"
    form: str = ""

    @property
    def summary(self) -> str:
        """What it is, and which form is in use."""
        return f"complete search for the lowest peak, after quick plans and up to the lower bound; {self._words()}"

    def _words(self) -> str:
        if self._form() == "native":
            return "in C"
        return "in Python" if self.form else "in Python: no compiled extension is in use"

    def _form(self) -> str:
        return self.form or ("python" if extension() is None else "native")

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`."""
        aligned = {pool.name: pool.align for pool in problem.pools}
        usable = [_aligned(block, aligned) for block in problem.blocks]
        for block in usable:
            if not block.pools:
                return Solution(status="infeasible", reason=f"no pool is aligned enough for block '{block.name}'")
        empty = {block.name: _home_of_empty(block, problem) for block in usable if not block.size_bytes}
        homeless = next((name for name, home in empty.items() if home is None), None)
        if homeless is not None:
            return Solution(status="infeasible", reason=f"block '{homeless}' is demanded where it cannot be")
        blocks = tuple(block for block in usable if block.size_bytes)
        left = replace(problem, blocks=blocks)
        solution = _stacked(left, budget.work) if self._is_large(blocks) else self._searched(left, budget)
        if blocks and not solution.places:
            return solution
        return replace(solution, places={**{name: home for name, home in empty.items() if home}, **solution.places})

    def _is_large(self, blocks: Sequence[Block]) -> bool:
        sections = len({last for block in blocks for _, last in block.lifetimes})
        return len(blocks) * sections > _MOST_STEPS[self._form()] or (_memberships(blocks) > _MOST_MEMBERSHIPS)

    def _searched(self, problem: Problem, budget: Budget) -> Solution:
        number = {pool.name: index for index, pool in enumerate(problem.pools)}
        make: MakeSearch = NativeSearch if self._form() == "native" else PythonSearch
        ground = Ground(
            problem=problem,
            blocks=problem.blocks,
            candidates=tuple(tuple(number[name] for name in block.pools) for block in problem.blocks),
            seed=budget.seed,
            make=make,
            left=budget.work,
            any_plan=problem.goal == "fit",
        )
        plan, sure = divide(ground)
        if plan is None:
            reason = _reason(ground) if sure else "the budget is spent and no plan within the capacities was found"
            return Solution(status="infeasible" if sure else "unknown", work=ground.spent, reason=reason)
        return Solution(
            status="optimal" if sure and problem.goal != "fit" else "feasible",
            places=_places(ground, plan),
            work=ground.spent,
            bounds=_bounds(ground, plan),
        )


def _aligned(block: Block, aligned: Mapping[str, int]) -> Block:
    """The block without pools that are aligned less than it is."""
    pools = tuple(name for name in block.pools if aligned[name] % block.align == 0)
    return block if pools == block.pools else replace(block, pools=pools)


def _home_of_empty(block: Block, problem: Problem) -> Place | None:
    """A block of no bytes meets nothing; but an offset demanded of it must be aligned and in its pool."""
    offset = block.fixed_offset or 0
    capacities = {pool.name: pool.capacity_bytes for pool in problem.pools}
    for name in block.pools:
        capacity = capacities[name]
        if offset >= 0 and offset % block.align == 0 and (capacity is None or offset <= capacity):
            return Place(pool=name, offset_bytes=offset)
    return None


def _bounds(ground: Ground, plan: Plan) -> dict[str, int]:
    """What was proved of each pool that no other choice of pools could relieve."""
    shared = {pool for options in ground.candidates if len(options) > 1 for pool in options}
    return {
        peak.task.pool.name: peak.task.peak_bytes(peak.floor)
        for pool, peak in enumerate(plan.peaks)
        if pool not in shared
    }


def _reason(ground: Ground) -> str:
    """Why there is no plan: what is wrong with a demanded offset, or a pool that is too small."""
    for peak in ground.peaks.values():
        if peak.task.fault:
            return peak.task.fault
    if all(len(options) == 1 for options in ground.candidates):
        for (pool, _), peak in ground.peaks.items():
            if peak.dead:
                return (
                    f"the blocks of pool '{ground.problem.pools[pool].name}' need more than it holds, which is proved"
                )
    return "no division of the blocks among their pools has a plan, which is proved"


def _places(ground: Ground, plan: Plan) -> dict[str, Place]:
    places = {}
    for peak in plan.peaks:
        task = peak.task
        for block, offset in zip(task.movable, peak.offsets or (), strict=True):
            places[block.name] = Place(pool=task.pool.name, offset_bytes=offset * task.instance.grain)
    for block, pool in zip(ground.blocks, plan.division, strict=True):
        if block.fixed_offset is not None:
            places[block.name] = Place(pool=ground.problem.pools[pool].name, offset_bytes=block.fixed_offset)
    return {block.name: places[block.name] for block in ground.blocks}


def _memberships(blocks: Sequence[Block]) -> int:
    """How many blocks are alive at each birth, added up: what an instance of them would hold."""
    births = sorted(first for block in blocks for first, _ in block.lifetimes)
    return sum(
        bisect_right(births, last) - bisect_left(births, first) for block in blocks for first, last in block.lifetimes
    )


def _stacked(problem: Problem, work: int) -> Solution:
    """A plan for more blocks than can be searched, and the bound: first fits in C, or a skyline."""
    from tilewright_minimalloc.first_fit import first_fit  # needs numpy, which few problems do

    bounds = lower_bounds(problem)
    for pool in problem.pools:
        if pool.capacity_bytes is not None and bounds[pool.name] > pool.capacity_bytes:
            return Solution(status="infeasible", reason=f"blocks alive at once need more than pool '{pool.name}' holds")
    places = first_fit(problem, bounds, work)
    if places is not None:
        peaks = dict.fromkeys(bounds, 0)
        for block in problem.blocks:
            place = places[block.name]
            peaks[place.pool] = max(peaks[place.pool], place.offset_bytes + block.size_bytes)
        return Solution(status="optimal" if peaks == bounds else "feasible", places=places, bounds=bounds)
    solution = stack(problem)
    at_home = all(solution.places[block.name].pool == block.pools[0] for block in problem.blocks if solution.places)
    status = "feasible" if solution.status == "optimal" and not at_home else solution.status
    return replace(solution, status=status, bounds=bounds if solution.places else {})
