"""Very many blocks as columns: placed in C, each at its lowest free offset, as a few lines of Python place it."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tilewright.api.allocator import Block, stack
from tilewright.testing.allocation_problems import block, ram
from tilewright_minimalloc.yard import Yard, yard_of

pytest.importorskip("tilewright_minimalloc._first_fit")


def drawn(seed: int, count: int, times: int) -> tuple[Block, ...]:
    chance = random.Random(seed)
    born = [chance.randrange(times) for _ in range(count)]
    return tuple(
        block(f"b{i}", chance.randint(1, 40), t, t + chance.randint(0, 9), align=chance.choice([1, 4, 8]))
        for i, t in enumerate(born)
    )


def made(blocks: tuple[Block, ...]) -> Yard:
    yard = yard_of(blocks)
    assert yard is not None
    return yard


def by_hand(blocks: tuple[Block, ...], order: list[int]) -> list[int]:
    offsets: dict[int, int] = {}
    for number in order:
        one = blocks[number]
        ((first, last),) = one.lifetimes
        offset = 0
        for low, high in sorted(
            (at, at + blocks[other].size_bytes)
            for other, at in offsets.items()
            if blocks[other].lifetimes[0][0] <= last and first <= blocks[other].lifetimes[0][1]
        ):
            if low >= offset + one.size_bytes:
                break
            offset = max(offset, -(-high // one.align) * one.align)
        offsets[number] = offset
    return [offsets[number] for number in range(len(blocks))]


@pytest.mark.parametrize("seed", range(25))
def test_every_block_is_where_it_is_by_hand(seed: int) -> None:
    blocks = drawn(seed, count=1 + 6 * seed, times=[20, 200][seed % 2])
    yard = made(blocks)
    order = np.random.default_rng(seed).permutation(len(blocks))
    offsets = yard.as_given(yard.placed(order) - yard.sizes)
    assert offsets.tolist() == by_hand(blocks, yard.number[order].tolist())


def test_each_order_is_what_it_says() -> None:
    blocks = (block("a", 4, 0, 9), block("b", 9, 0, 1), block("c", 9, 2, 4), block("d", 1, 0, 4), block("e", 1, 8, 9))
    yard = made(blocks)
    by_meetings, by_size, by_area = (yard.number[order].tolist() for order in yard.orders(skyline=False))
    assert len(list(yard.orders(skyline=True))) == 4
    assert by_size == [2, 1, 0, 3, 4]
    assert by_area == [0, 2, 1, 3, 4]
    assert by_meetings == [0, 3, 1, 2, 4]


@pytest.mark.parametrize("seed", range(12))
def test_the_skyline_is_that_of_the_core(seed: int) -> None:
    """Lowest first, and first fits in that order are nowhere higher."""
    blocks = drawn(seed, count=1 + 20 * seed, times=40)
    yard = made(blocks)
    places = stack(ram(*blocks)).places
    theirs = np.array([places[one.name].offset_bytes for one in blocks])[yard.number]
    order = yard.by_skyline()
    assert sorted(order.tolist()) == list(range(len(blocks)))
    assert (np.diff(theirs[order]) >= 0).all()
    assert (yard.placed(order) - yard.sizes <= theirs).all()
