"""Knows how to make allocation problems that tests of allocators start from: by hand, at random, or with everything
that a problem can have (views, in-place pairs, engines, several pools). Does not know any allocator.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tilewright.ir.plans.allocation import Block, Pool, Problem, Within
from tilewright.ir.rounding import align_down


def block(
    name: str,
    size_bytes: int,
    first: int,
    last: int,
    *,
    align: int = 1,
    pools: tuple[str, ...] = ("ram",),
    fixed: int | None = None,
) -> Block:
    """A block with one lifetime."""
    return Block(
        name=name, size_bytes=size_bytes, align=align, lifetimes=((first, last),), pools=pools, fixed_offset=fixed
    )


def ram(*blocks: Block, capacity: int | None = None, reserved: tuple[tuple[int, int], ...] = ()) -> Problem:
    """A problem of one pool, `ram`."""
    return Problem(blocks=blocks, pools=(Pool(name="ram", capacity_bytes=capacity, reserved=reserved),))


def random_problem(
    chance: random.Random, *, most_blocks: int = 14, capacities: bool = True, extras: bool = True
) -> Problem:
    """Any small problem over two pools: gaps in lifetimes, alignments and, as `extras`, all the rest there is.

    Extras: reserved ranges, fixed offsets, explicit conflicts, compatible pairs. Without extras and capacities
    every problem has a solution.
    """
    names = [f"b{index}" for index in range(chance.randint(0, most_blocks))]
    return Problem(
        blocks=tuple(_random_block(chance, name, extras) for name in names),
        pools=(
            Pool(
                name="near",
                capacity_bytes=chance.choice([None, 48, 128, 400]) if capacities else None,
                reserved=chance.choice([(), ((0, 16),), ((8, 20), (40, 41))]) if extras else (),
            ),
            Pool(name="far", capacity_bytes=chance.choice([None, 48, 400]) if capacities else None),
        ),
        conflicts=_random_pairs(chance, names) if extras else (),
        compatible=_random_pairs(chance, names) if extras else (),
    )


def _random_block(chance: random.Random, name: str, extras: bool) -> Block:
    starts = [chance.randint(0, 12) for _ in range(chance.randint(1, 2))]
    return Block(
        name=name,
        size_bytes=chance.randint(0, 40),
        align=chance.choice([1, 2, 4, 8]),
        lifetimes=tuple((start, start + chance.randint(0, 5)) for start in starts),
        pools=chance.choice([("near",), ("near", "far"), ("far",), ("far", "near")]),
        fixed_offset=chance.choice([None, None, None, None, None, 0, 8, 64]) if extras else None,
    )


def _random_pairs(chance: random.Random, names: list[str]) -> tuple[tuple[str, str], ...]:
    if len(names) < 2:
        return ()
    pairs = (chance.sample(names, 2) for _ in range(chance.randint(0, 4)))
    return tuple((first, second) for first, second in pairs)


def joined_problem(chance: random.Random, *, most_blocks: int = 8) -> Problem:
    """A `random_problem` in which some blocks lie within others and some are used by an engine. Lengths often have a
    common measure."""
    problem = random_problem(chance, most_blocks=most_blocks)
    unit = chance.choice([1, 1, 4, 6])
    blocks = tuple(
        replace(
            block,
            size_bytes=block.size_bytes * unit,
            fixed_offset=None if block.fixed_offset is None else block.fixed_offset * unit,
            engines=chance.choice([(), (), (("dma", "ro"),), (("dma", "rw"), ("cpu", "rw"))]),
        )
        for block in problem.blocks
    )
    pools = tuple(
        replace(
            pool,
            capacity_bytes=None if pool.capacity_bytes is None else pool.capacity_bytes * unit + chance.randrange(unit),
            access=chance.choice([(), (), (("dma", "ro"),), (("dma", "none"),)]),
        )
        for pool in problem.pools
    )
    return replace(problem, blocks=blocks, pools=pools, within=_links(chance, replace(problem, blocks=blocks)))


def _links(chance: random.Random, problem: Problem) -> tuple[Within, ...]:
    links = []
    for number, block in enumerate(problem.blocks[1:], start=1):
        outer = problem.blocks[chance.randrange(number)]
        free_bytes = outer.size_bytes - block.size_bytes
        if free_bytes >= 0 and chance.randrange(4) == 0:
            step = chance.choice([1, block.align])
            links.append(
                Within(block=block.name, of=outer.name, offset_bytes=align_down(chance.randint(0, free_bytes), step))
            )
        elif chance.randrange(6) == 0:
            links.append(Within(block=block.name, of=outer.name, kind="in_place"))
    return tuple(links)
