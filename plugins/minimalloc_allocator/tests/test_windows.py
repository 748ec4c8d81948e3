"""What is too high is placed anew, and nothing beyond its window moves."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tilewright.api.allocator import Block, Place, Solution, lower_bounds
from tilewright.check.allocations.allocation import violations
from tilewright.testing.allocation_problems import block, ram
from tilewright_minimalloc.native import NativeSearch
from tilewright_minimalloc.windows import Windows
from tilewright_minimalloc.yard import Numbers, Yard, yard_of

pytest.importorskip("tilewright_minimalloc._first_fit")


def drawn(count: int = 1_500) -> tuple[Block, ...]:
    chance = random.Random(3)
    starts = [chance.randrange(count) for _ in range(count)]
    return tuple(
        block(f"b{at}", chance.randint(1, 999), t, t + chance.randint(0, 24), align=chance.choice([1, 16]))
        for at, t in enumerate(starts)
    )


def started(blocks: tuple[Block, ...]) -> tuple[Yard, Numbers, int]:
    """The blocks, where first fits of the largest first end, and the bound."""
    yard = yard_of(blocks)
    assert yard is not None
    return yard, yard.placed(list(yard.orders(skyline=False))[1]), lower_bounds(ram(*blocks))["ram"]


def is_valid(blocks: tuple[Block, ...], yard: Yard, tops: Numbers) -> bool:
    offsets = yard.as_given(tops - yard.sizes).tolist()
    places = {one.name: Place(pool="ram", offset_bytes=at) for one, at in zip(blocks, offsets, strict=True)}
    return not violations(ram(*blocks), Solution(status="feasible", places=places))


def test_a_plan_becomes_lower_and_stays_one() -> None:
    blocks = drawn()
    yard, before, bound = started(blocks)
    windows = Windows(yard=yard, make=NativeSearch, left=100_000)
    after = windows.lowered(before, bound)
    assert bound <= after.max() <= 1.02 * bound < before.max()
    assert windows.left < 100_000
    assert is_valid(blocks, yard, after)
    moved = np.flatnonzero(before != after)
    assert 0 < len(moved) < len(blocks) // 2


def test_without_work_the_plan_is_what_it_was() -> None:
    yard, before, bound = started(drawn())
    assert (Windows(yard=yard, make=NativeSearch, left=0).lowered(before, bound) == before).all()


def test_what_cannot_be_had_is_aimed_at_half_way() -> None:
    """No plan is under the bound: half of the bound is never met, and what is lower than before is kept."""
    blocks = drawn()
    yard, before, bound = started(blocks)
    after = Windows(yard=yard, make=NativeSearch, left=400_000).lowered(before, bound // 2)
    assert bound <= after.max() <= before.max()
    assert is_valid(blocks, yard, after)
