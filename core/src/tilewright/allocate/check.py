"""Knows whether a solution solves its problem, from the definition alone.
Does not know, import or trust any allocator. Slow and obvious on purpose.
"""

from __future__ import annotations

from tilewright.allocate.problem import Block, Place, Pool, Problem, Solution


def violations(problem: Problem, solution: Solution) -> tuple[str, ...]:
    """Everything that is wrong with where `solution` puts the blocks; empty when nothing is."""
    found = [f"block '{name}' is placed but not in the problem" for name in _unknown(problem, solution)]
    placed: list[tuple[Block, Place]] = []
    for block in problem.blocks:
        place = solution.places.get(block.name)
        if place is None:
            found.append(f"block '{block.name}' has no place")
            continue
        placed.append((block, place))
        found.extend(f"block '{block.name}' {fault}" for fault in _alone(block, place, problem))
    for index, (one, at) in enumerate(placed):
        for other, there in placed[index + 1 :]:
            if at.pool == there.pool and _share_bytes(one, at, other, there) and _conflict(one, other, problem):
                found.append(f"blocks '{one.name}' and '{other.name}' share bytes of pool '{at.pool}'")
    return tuple(found)


def peaks(problem: Problem, solution: Solution) -> dict[str, int]:
    """Bytes used of each pool, counted from offset 0 to the end of the topmost block."""
    sizes = {block.name: block.size_bytes for block in problem.blocks}
    used = {pool.name: 0 for pool in problem.pools}
    for name, place in solution.places.items():
        if sizes[name]:
            used[place.pool] = max(used[place.pool], place.offset_bytes + sizes[name])
    return used


def _unknown(problem: Problem, solution: Solution) -> list[str]:
    names = {block.name for block in problem.blocks}
    return sorted(name for name in solution.places if name not in names)


def _alone(block: Block, place: Place, problem: Problem) -> list[str]:
    """Faults of one block's place that need no other block."""
    pools = {pool.name: pool for pool in problem.pools}
    if place.pool not in pools:
        return [f"is in '{place.pool}', which is no pool"]
    pool = pools[place.pool]
    end = place.offset_bytes + block.size_bytes
    found = []
    if place.pool not in block.pools:
        found.append(f"may not be in pool '{place.pool}'")
    if place.offset_bytes < 0:
        found.append(f"starts at {place.offset_bytes}")
    if place.offset_bytes % block.align:
        found.append(f"at {place.offset_bytes} is not aligned to {block.align}")
    if pool.align % block.align:
        found.append(f"needs alignment {block.align}, pool '{pool.name}' has {pool.align}")
    if pool.capacity_bytes is not None and end > pool.capacity_bytes:
        found.append(f"ends at {end}, pool '{pool.name}' at {pool.capacity_bytes}")
    if block.fixed_offset is not None and place.offset_bytes != block.fixed_offset:
        found.append(f"is at {place.offset_bytes}, not at {block.fixed_offset} as demanded")
    if block.size_bytes and _in_reserved(place.offset_bytes, end, pool):
        found.append(f"is in a reserved range of pool '{pool.name}'")
    return found


def _in_reserved(low: int, high: int, pool: Pool) -> bool:
    return any(low < reserved_high and reserved_low < high for reserved_low, reserved_high in pool.reserved)


def _share_bytes(one: Block, at: Place, other: Block, there: Place) -> bool:
    if not one.size_bytes or not other.size_bytes:
        return False
    return (
        at.offset_bytes < there.offset_bytes + other.size_bytes
        and there.offset_bytes < at.offset_bytes + one.size_bytes
    )


def _conflict(one: Block, other: Block, problem: Problem) -> bool:
    pair, reverse = (one.name, other.name), (other.name, one.name)
    if pair in problem.conflicts or reverse in problem.conflicts:
        return True
    if pair in problem.compatible or reverse in problem.compatible:
        return False
    return any(
        first <= last_of_other and first_of_other <= last
        for first, last in one.lifetimes
        for first_of_other, last_of_other in other.lifetimes
    )
