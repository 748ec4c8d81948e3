"""Knows how the blocks that are to be in one pool become an instance, and what is wrong with those at fixed offsets.
Does not know which blocks should be in the pool, nor how they are placed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tilewright.api.allocator import Block, Pool, Problem
from tilewright_minimalloc.cliques import cliques_of
from tilewright_minimalloc.instance import Instance, make_instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One pool, ready to be searched."""

    pool: Pool
    movable: tuple[Block, ...]  # the instance's blocks, in its order
    instance: Instance
    settled_bytes: int  # where the topmost block at a fixed offset ends
    fault: str = ""  # why there is no placement, whatever the search may find

    @property
    def floor(self) -> int:
        """Grains that the movable blocks may use without any loss: no placement has a lower peak."""
        return max(self.instance.floor, self.settled_bytes // self.instance.grain)

    @property
    def capacity(self) -> int | None:
        """Grains, rounded down."""
        return None if self.pool.capacity_bytes is None else self.pool.capacity_bytes // self.instance.grain

    def peak_bytes(self, height: int) -> int:
        """Of the pool, where the movable blocks end at `height` grains."""
        return max(self.settled_bytes, height * self.instance.grain)


def make_task(problem: Problem, pool: Pool, members: Sequence[Block]) -> Task:
    """The task of placing `members` (of at least one byte) in `pool`."""
    movable = [number for number, block in enumerate(members) if block.fixed_offset is None]
    local = {number: place for place, number in enumerate(movable)}
    obstacles: list[set[tuple[int, int]]] = [set(pool.reserved) for _ in movable]
    cliques, faults = [], [_fault_of(block, pool) for block in members if block.fixed_offset is not None]
    for clique in cliques_of(problem, members):
        fixed = sorted(_range(members[number]) for number in clique if number not in local)
        if any(left[1] > right[0] for left, right in pairwise(fixed)):
            faults.append(_overlap(members, clique))
        inside = [local[number] for number in clique if number in local]
        for place in inside:
            obstacles[place].update(fixed)
        cliques += [inside] if inside else []
    blocks = tuple(members[number] for number in movable)
    return Task(
        pool=pool,
        movable=blocks,
        instance=make_instance(
            [block.size_bytes for block in blocks],
            [block.align for block in blocks],
            obstacles,
            cliques,
            [sum(last - first + 1 for first, last in block.lifetimes) for block in blocks],
        ),
        settled_bytes=max((_range(block)[1] for block in members if block.fixed_offset is not None), default=0),
        fault=next(filter(None, faults), ""),
    )


def _range(block: Block) -> tuple[int, int]:
    low = block.fixed_offset or 0
    return low, low + block.size_bytes


def _fault_of(block: Block, pool: Pool) -> str:
    """What is wrong with a fixed offset by itself."""
    low, high = _range(block)
    if low < 0 or low % block.align:
        return f"block '{block.name}' is demanded at an offset that is not a multiple of its alignment"
    if pool.capacity_bytes is not None and high > pool.capacity_bytes:
        return f"block '{block.name}' is demanded beyond the end of pool '{pool.name}'"
    if any(start < high and low < end for start, end in pool.reserved):
        return f"block '{block.name}' is demanded inside a reserved range of pool '{pool.name}'"
    return ""


def _overlap(members: Sequence[Block], clique: Sequence[int]) -> str:
    names = sorted(members[number].name for number in clique if members[number].fixed_offset is not None)
    return f"some of the blocks {', '.join(names)} are demanded at offsets where they overlap"
