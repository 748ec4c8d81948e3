"""Knows how to make allocation problems with everything in them: views, in-place pairs, engines, several pools.
Does not know how they are normalised or solved.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tilewright.ir.plans.allocation import Problem, Within
from tilewright.ir.rounding import align_down
from tilewright.testing.allocation_problems import random_problem


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
        room = outer.size_bytes - block.size_bytes
        if room >= 0 and chance.randrange(4) == 0:
            step = chance.choice([1, block.align])
            links.append(
                Within(block=block.name, of=outer.name, offset_bytes=align_down(chance.randint(0, room), step))
            )
        elif chance.randrange(6) == 0:
            links.append(Within(block=block.name, of=outer.name, kind="in_place"))
    return tuple(links)
