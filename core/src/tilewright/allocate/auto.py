"""Knows in which order to ask allocators: the quick one, the exact one where there is one, the patient one.
Does not place anything itself, and does not know which packages offer what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.packing.lower_bound import MOST_MEETINGS, bytes_away, count_of_meetings
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.ir.plans.allocation import Allocator, Budget, Problem, Solution

EXACT = "minimalloc"  # the allocator that `auto` asks for proofs, when it is installed
_QUICK_SHARE = 10  # of the budget goes into heuristics where the exact search proves nothing
_MANY = 1_000  # blocks, of which heuristics know less and take longer than the exact allocator
_TOO_MANY = 10_000  # for heuristics, which would take minutes
_FOUND = ("optimal", "feasible")


@dataclass(frozen=True, slots=True, kw_only=True)
class Auto:
    """Cheap orders first; where these are not proved optimal, the exact allocator; where that proves nothing either,
    heuristics with a part of the work and then with all of it, as long as they are ahead.

    `Solution.found_by` says whose plan it is. The exact allocator gets the budget that it would have got alone;
    without one the heuristics do.
    """

    exact: Allocator | None = None
    heuristic: Allocator = field(default_factory=BestFit)
    name: str = "auto"
    summary: str = "quick orders, then the exact allocator where one is installed, then a longer search"

    def solve(self, problem: Problem, budget: Budget) -> Solution:
        """See `Allocator.solve`."""
        if self.exact is None:
            return _signed(self.heuristic, problem, budget)
        if count_of_meetings(problem) > MOST_MEETINGS:
            solution = _signed(self.exact, problem, budget)
            return solution if solution.status != "unknown" else _signed(self.heuristic, problem, budget)
        glance = Solution(status="unknown")
        if not _is_plain(problem, _MANY):
            glance = _signed(self.heuristic, problem, replace(budget, work=0))  # cheap orders, none of them improved
            if _is_enough(problem, glance):
                return glance
        exact = _signed(self.exact, problem, budget)
        work = glance.work + exact.work
        if _is_enough(problem, exact) or (exact.places and _is_plain(problem, _TOO_MANY)):
            return replace(exact, work=work)
        return self._searched(problem, budget, exact, work)

    def _searched(self, problem: Problem, budget: Budget, exact: Solution, work: int) -> Solution:
        """What heuristics find in longer and longer searches, as long as they are ahead of the exact allocator."""
        solution = exact
        for share in (_QUICK_SHARE, 1):
            solution = _signed(self.heuristic, problem, replace(budget, work=budget.work // share))
            work += solution.work
            if _is_enough(problem, solution):
                return replace(solution, work=work)
            if exact.status == "feasible" and _no_worse(problem, exact, solution):
                solution = exact
                break
        return replace(solution, work=work, bounds={**solution.bounds, **exact.bounds})


def _is_enough(problem: Problem, answer: Solution) -> bool:
    """Whether nobody else has to be asked."""
    return answer.status in ("optimal", "infeasible") or (problem.goal == "fit" and answer.status == "feasible")


def _is_plain(problem: Problem, more_than: int) -> bool:
    """Whether there are more blocks than so many, with nothing but a size, an alignment, a lifetime and a pool."""
    if len(problem.blocks) <= more_than or problem.conflicts or problem.compatible:
        return False
    return not any(pool.reserved for pool in problem.pools) and all(
        len(block.lifetimes) == len(block.pools) == 1 and block.fixed_offset is None for block in problem.blocks
    )


def chosen(allocators: Mapping[str, Allocator], name: str) -> Allocator:
    """The allocator of that name; `auto` with the exact one, if that is among them."""
    allocator = allocators[name]
    return replace(allocator, exact=allocators.get(EXACT)) if isinstance(allocator, Auto) else allocator


def _signed(allocator: Allocator, problem: Problem, budget: Budget) -> Solution:
    solution = allocator.solve(problem, budget)
    return replace(solution, found_by=solution.found_by or allocator.name)


def _no_worse(problem: Problem, solution: Solution, other: Solution) -> bool:
    """Whether plan `solution` is wrong (then it must be seen, not hidden behind the other one) or at least as good."""
    if other.status not in _FOUND or violations(problem, solution):
        return True
    return cost(problem, solution) <= cost(problem, other)


def cost(problem: Problem, solution: Solution) -> tuple[int, int]:
    """Bytes times steps away from the preferred pool, and the sum of all peaks."""
    return bytes_away(problem, solution), sum(peaks(problem, solution).values())
