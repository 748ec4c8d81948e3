"""Blocks as columns say what they say one by one, and are None where a column would say something else."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.plans.allocation import Block
from tilewright.ir.plans.block_columns import MANY, BlockColumns, columns_of
from tilewright.testing.allocation_problems import block


def drawn(chance: random.Random) -> list[Block]:
    starts = [chance.randint(-9, 9) for _ in range(chance.randint(1, 12))]
    return [
        block(f"b{at}", chance.randint(0, 9), start, start + chance.randint(0, 6), align=chance.choice([1, 4]))
        for at, start in enumerate(starts)
    ]


def columns(blocks: list[Block]) -> BlockColumns:
    found = columns_of(blocks, more_than=0)
    assert found is not None
    return found


@given(st.randoms(use_true_random=False))
def test_each_row_is_its_block(chance: random.Random) -> None:
    blocks = drawn(chance)
    found = columns(blocks)
    rows = zip(*(column.tolist() for column in (found.sizes, found.aligns, found.births, found.deaths)), strict=True)
    assert [*rows] == [(one.size_bytes, one.align, *one.lifetimes[0]) for one in blocks]


@given(st.randoms(use_true_random=False))
def test_the_fullest_moment_is_that_of_looking_at_each(chance: random.Random) -> None:
    blocks = drawn(chance)
    lives = [(one.size_bytes, *one.lifetimes[0]) for one in blocks]
    assert columns(blocks).most_at_once() == max(
        sum(size for size, first, last in lives if first <= moment <= last) for moment in range(-9, 16)
    )


@given(st.randoms(use_true_random=False))
def test_meetings_are_pairs_alive_at_one_time(chance: random.Random) -> None:
    blocks = drawn(chance)
    lives = [one.lifetimes[0] for one in blocks]
    pairs = [
        (at, other)
        for at, (first, last) in enumerate(lives)
        for other in range(at)
        if lives[other][0] <= last and first <= lives[other][1]
    ]
    assert columns(blocks).meetings() == len(pairs)


@pytest.mark.parametrize(
    "one",
    [
        block("a", 1 << 40, 0, 0),
        block("a", 1 << 70, 0, 0),
        block("a", 1, 0, 1 << 41),
        replace(block("a", 1, 0, 0), lifetimes=()),
        replace(block("a", 1, 0, 0), lifetimes=((0, 1), (3, 4))),
    ],
)
def test_what_columns_cannot_say_is_left_to_others(one: Block) -> None:
    assert columns_of([block("b", 1, 0, 0), one], more_than=0) is None


def test_few_blocks_are_looked_at_one_by_one() -> None:
    assert columns_of([block("a", 1, 0, 0)] * MANY) is None
    assert columns_of([block("a", 1, 0, 0)] * (MANY + 1)) is not None
