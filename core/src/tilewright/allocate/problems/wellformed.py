"""Knows what an allocation problem must be before anybody may be asked to solve it.
Does not know whether it has a solution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tilewright.errors import usage_error
from tilewright.ir.plans.allocation import Block, Problem
from tilewright.ir.plans.block_columns import columns_of


def demand_wellformed(problem: Problem) -> None:
    """TilewrightError TW5025 (exit 2) with everything in `problem` that makes no sense."""
    wrong = tuple(faults(problem))
    if wrong:
        raise usage_error(
            "TW5025",
            f"the allocation problem makes no sense: {wrong[0]}",
            details=wrong[1:8],
            fix=("correct the problem, or report it to the author of what made it",),
        )


def faults(problem: Problem) -> Iterator[str]:
    """Everything that makes no sense, in words."""
    yield from _twice("block", [block.name for block in problem.blocks])
    yield from _twice("pool", [pool.name for pool in problem.pools])
    yield from _block_faults(problem)
    yield from _pool_faults(problem)
    yield from _pair_faults(problem)


def _twice(what: str, names: list[str]) -> Iterator[str]:
    if len(set(names)) == len(names):
        return
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{count} {what}s are named '{name}'"


def _block_faults(problem: Problem) -> Iterator[str]:
    pools = {pool.name for pool in problem.pools}
    if _are_surely_fine(problem.blocks, pools):
        return
    for block in problem.blocks:
        if block.size_bytes < 0:
            yield f"block '{block.name}' has {block.size_bytes} bytes"
        if block.align < 1:
            yield f"block '{block.name}' is aligned to {block.align}"
        if any(first > last for first, last in block.lifetimes):
            yield f"block '{block.name}' dies before it is born"
        for name in block.pools:
            if name not in pools:
                yield f"block '{block.name}' may be in '{name}', which is no pool"


def _are_surely_fine(blocks: Sequence[Block], pools: set[str]) -> bool:
    """Of very many blocks with one lifetime each, all at once."""
    columns = columns_of(blocks)
    if columns is None or not pools.issuperset(name for names in {block.pools for block in blocks} for name in names):
        return False
    alive = (columns.births <= columns.deaths).all()
    return bool(alive and columns.sizes.min() >= 0 and columns.aligns.min() >= 1)


def _pool_faults(problem: Problem) -> Iterator[str]:
    ranges: list[tuple[int, int, str]] = []
    for pool in problem.pools:
        if pool.align < 1 or (pool.base or 0) % pool.align:
            yield f"pool '{pool.name}' starts at {pool.base or 0}, which is not aligned to {pool.align}"
        if pool.capacity_bytes is not None and pool.capacity_bytes < 0:
            yield f"pool '{pool.name}' has {pool.capacity_bytes} bytes"
        if any(low < 0 or high < low for low, high in pool.reserved):
            yield f"pool '{pool.name}' reserves a range that is none"
        if pool.base is not None and pool.capacity_bytes:
            ranges.append((pool.base, pool.base + pool.capacity_bytes, pool.name))
    ranges.sort()
    for (_, end, lower), (start, _, upper) in pairwise(ranges):
        if start < end:
            yield f"pools '{lower}' and '{upper}' have addresses in common"


def _pair_faults(problem: Problem) -> Iterator[str]:
    blocks = {block.name for block in problem.blocks}
    for what, pairs in (("conflict", problem.conflicts), ("pair that may overlap", problem.compatible)):
        for name in (name for pair in pairs for name in pair if name not in blocks):
            yield f"a {what} names '{name}', which is no block"
    for link in problem.within:
        for name in (link.block, link.of):
            if name not in blocks:
                yield f"'{link.block}' within '{link.of}': '{name}' is no block"
