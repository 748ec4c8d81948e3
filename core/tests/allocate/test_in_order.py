"""Blocks that never die: one after another, in the first pool with room, around what is demanded and reserved."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.in_order import pack_in_order
from tilewright.ir.plans.allocation import Block, Place, Pool, Problem


def item(name: str, size: int, align: int = 1, fixed: int | None = None, pools: tuple[str, ...] = ("a", "b")) -> Block:
    return Block(name=name, size_bytes=size, align=align, lifetimes=((0, 0),), pools=pools, fixed_offset=fixed)


def packed(*blocks: Block, capacity: int | None = None, reserved: tuple[tuple[int, int], ...] = ()) -> dict[str, Place]:
    pools = (Pool(name="a", capacity_bytes=capacity, reserved=reserved), Pool(name="b", capacity_bytes=8))
    return pack_in_order(Problem(blocks=blocks, pools=pools))


def test_each_after_the_one_before_it() -> None:
    places = packed(item("x", 5), item("y", 4, align=4), item("z", 1))
    assert [places[name].offset_bytes for name in "xyz"] == [0, 8, 12]


def test_what_does_not_fit_goes_to_the_next_pool_and_the_last_one_takes_all() -> None:
    places = packed(item("x", 8), item("y", 1), item("z", 20), capacity=8)
    assert [places[name].pool for name in "xyz"] == ["a", "b", "b"]
    assert places["z"] == Place(pool="b", offset_bytes=1)


def test_nothing_is_put_where_something_is_reserved_or_demanded() -> None:
    places = packed(item("x", 4), item("y", 4, fixed=6), item("z", 4), reserved=((0, 2),))
    assert [places[name].offset_bytes for name in "xyz"] == [2, 6, 10]
    tight = packed(item("x", 4), item("y", 4, fixed=4), item("z", 4))
    assert [tight[name].offset_bytes for name in "xyz"] == [0, 4, 8]


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_no_two_overlap_and_all_are_aligned(chance: random.Random) -> None:
    blocks = [item(f"b{at}", chance.randint(1, 9), chance.choice([1, 2, 4, 8])) for at in range(8)]
    blocks[3] = replace(blocks[3], fixed_offset=8 * chance.randint(0, 4))
    places = packed(*blocks, capacity=chance.choice([None, 16, 24]))
    for at, one in enumerate(blocks):
        place = places[one.name]
        assert place.offset_bytes % one.align == 0
        for other in blocks[at + 1 :]:
            there = places[other.name]
            apart = place.offset_bytes + one.size_bytes <= there.offset_bytes
            assert place.pool != there.pool or apart or there.offset_bytes + other.size_bytes <= place.offset_bytes
