"""Knows how a problem is put to an allocator, whose answer is believed only after a check, and what a finished attempt
of the built-in ones amounts to: a plan, a proof, or why there is none. Does not know what the problem is about.
"""

from __future__ import annotations

from dataclasses import replace

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.packing.packing import Packing, Yard
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
    preferred = all(answer.places[block.name].pool == block.pools[0] for block in normal.problem.blocks)
    return replace(answer, status="optimal") if met and preferred else answer  # no other choice of pools is better


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


def unaligned(problem: Problem) -> Solution | None:
    """The answer for a problem with a block that no candidate pool is aligned enough for."""
    aligned = {pool.name: pool.align for pool in problem.pools}
    for block in problem.blocks:
        if not any(aligned[name] % block.align == 0 for name in block.pools):
            return Solution(status="infeasible", reason=f"no pool is aligned enough for block '{block.name}'")
    return None


def verdict(problem: Problem, yard: Yard, best: Packing, closed: bool, work: int) -> Solution:
    """The answer for `best`. `closed`: nothing better exists in these pools."""
    bounds = lower_bounds(problem)
    for pool in problem.pools:
        if pool.capacity_bytes is not None and bounds[pool.name] > pool.capacity_bytes:
            reason = f"blocks alive at once need more than pool '{pool.name}' holds"
            return Solution(status="infeasible", work=work, reason=reason)
    wrong = clash(yard, best)
    if wrong:
        fixed = (
            pools
            for block, pools in zip(problem.blocks, yard.candidates, strict=True)
            if block.fixed_offset is not None
        )
        no_choice = all(len(pools) == 1 for pools in fixed)
        return Solution(status="infeasible" if no_choice else "unknown", work=work, reason=wrong)
    for pool, peak in zip(problem.pools, best.peaks, strict=True):
        if pool.capacity_bytes is not None and peak > pool.capacity_bytes:
            reason = f"the best packing found needs more than pool '{pool.name}' holds"
            return Solution(status="infeasible" if closed else "unknown", work=work, reason=reason)
    at_home = all(pools[0] == pool for pools, pool in zip(yard.candidates, best.pools, strict=True) if pools)
    proved = closed or (at_home and best.peaks == tuple(bounds[pool.name] for pool in problem.pools))
    return Solution(status="optimal" if proved else "feasible", places=best.places(problem), work=work)


def clash(yard: Yard, packing: Packing) -> str:
    """What is wrong with the demanded offsets themselves; everything else is placed around them."""
    blocks = yard.problem.blocks
    for index, block in enumerate(blocks):
        if block.fixed_offset is None:
            continue
        low, high, pool = packing.offsets[index], packing.offsets[index] + block.size_bytes, packing.pools[index]
        if low < 0 or low % block.align:
            return f"block '{block.name}' is demanded at an offset that is not a multiple of {block.align}"
        capacity = yard.capacities[pool]
        if capacity is not None and high > capacity:
            return f"block '{block.name}' is demanded beyond the end of its pool"
        if block.size_bytes and any(start < high and low < end for start, end in yard.reserved[pool]):
            return f"block '{block.name}' is demanded inside a reserved range"
        for other in yard.conflicts[index]:
            there, fixed = packing.offsets[other], blocks[other].fixed_offset is not None
            if fixed and packing.pools[other] == pool and there < high and low < there + blocks[other].size_bytes:
                return f"blocks '{block.name}' and '{blocks[other].name}' are demanded at offsets where they overlap"
    return ""
