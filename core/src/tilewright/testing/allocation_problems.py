"""Knows how to make allocation problems, by hand or at random: what an allocator's tests start from.
Does not know any allocator.
"""

from __future__ import annotations

import random

from tilewright.ir.plans.allocation import Block, Pool, Problem


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
    return tuple((one, other) for one, other in pairs)
