"""Knows what a finished attempt amounts to: a plan, a proof, or a reason why there is none.
Does not know how the attempt was made, nor in which unit the problem counts: a reason says no numbers.
"""

from __future__ import annotations

from tilewright.allocate.packing.lower_bound import lower_bounds
from tilewright.allocate.packing.packing import Packing, Yard
from tilewright.ir.plans.allocation import Problem, Solution


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
