"""Knows how a problem is put to an allocator, and that its answer is believed only after a check.
Does not know what the problem is about.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.problems.normalise import Normal, normalised
from tilewright.allocate.problems.wellformed import demand_wellformed
from tilewright.check.allocations.allocation import peaks, violations
from tilewright.errors import TilewrightError, plugin_error, typed
from tilewright.ir.log_span import DEBUG, log_span
from tilewright.ir.plans.allocation import Allocator, Budget, Problem, Solution
from tilewright.ir.plugin_contract import demand_type
from tilewright.ir.rounding import ceil_div


def solved(problem: Problem, allocator: Allocator, budget: Budget) -> Solution:
    """What `allocator` makes of `problem`: normalised, solved, read back, checked. `bounds` is always filled in.

    A plan whose peaks all meet their bounds is "optimal", whatever the allocator says. Raises TilewrightError TW5025
    (exit 2) for a problem that makes no sense, TW8050 (exit 8) when the answer is wrong.
    """
    demand_wellformed(problem)
    normal = normalised(problem)
    if isinstance(normal, str):
        return Solution(status="infeasible", reason=normal, found_by=allocator.name)
    bounds = bounds_of(normal)
    reason = _too_small(problem, bounds)
    if reason:
        return Solution(status="infeasible", reason=reason, bounds=bounds, found_by=allocator.name)
    with log_span(DEBUG, "allocator '%s' on %d blocks", allocator.name, len(normal.problem.blocks)):
        solved_as = allocator.solve(normal.problem, budget)
    demand_type(solved_as, Solution, f"allocator '{allocator.name}'", allocator.solve, "solve")
    answer = normal.restore(solved_as)
    best = {name: max(bound, answer.bounds.get(name, 0)) for name, bound in bounds.items()}
    answer = replace(answer, bounds=best, found_by=answer.found_by or allocator.name)
    if answer.status not in ("optimal", "feasible"):
        return replace(answer, places={})
    wrong = violations(problem, answer)
    if wrong:
        raise wrong_answer(allocator.name, wrong)
    met = all(used == best[name] for name, used in peaks(problem, answer).items())
    return replace(answer, status="optimal") if met and _at_home(normal, answer) else answer


def bounds_of(normal: Normal) -> dict[str, int]:
    """What no plan of the original problem can be under, by pool."""
    blocks = normal.problem.blocks
    if normal.pieces is not None and not normal.exact:  # count no byte that is there for alignment only
        front = {block.name: min(at for _, at in normal.pieces[block.name]) for block in blocks}
        blocks = tuple(
            replace(block, size_bytes=block.size_bytes - ceil_div(front[block.name], normal.scale), align=1)
            for block in blocks
        )
    bounds = lower_bounds(replace(normal.problem, blocks=blocks))
    return {name: bound * normal.scale for name, bound in bounds.items()}


def wrong_answer(allocator: str, wrong: tuple[str, ...]) -> TilewrightError:
    """The error TW8050 (exit 8)."""
    return plugin_error(
        "TW8050",
        f"allocator '{allocator}' returned a plan that is wrong: {wrong[0]}",
        details=wrong[1:8],
        fix=(typed("--allocator", "best-fit", gives="is another one"), "report it to the allocator's author"),
    )


def _too_small(problem: Problem, bounds: dict[str, int]) -> str:
    for pool in problem.pools:
        if pool.capacity_bytes is not None and bounds[pool.name] > pool.capacity_bytes:
            return (
                f"pool '{pool.name}' holds {pool.capacity_bytes} B and blocks alive at once need {bounds[pool.name]} B"
            )
    return ""


def _at_home(normal: Normal, solution: Solution) -> bool:
    """Whether every block is in the pool that it prefers: then no other choice of pools is better."""
    return all(solution.places[block.name].pool == block.pools[0] for block in normal.problem.blocks)
