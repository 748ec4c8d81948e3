"""Blocks of one pool become an instance: what is settled is out of the search's way, and what cannot be is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.api.allocator import Problem
from tilewright.api.testing import block, ram
from tilewright_minimalloc.pool import Task, make_task


def task(problem: Problem) -> Task:
    return make_task(problem, problem.pools[0], problem.blocks)


def test_only_blocks_that_can_move_are_searched_and_the_others_are_in_their_way() -> None:
    made = task(ram(block("still", 8, 0, 2, fixed=4), block("meets", 4, 2, 3), block("apart", 4, 3, 4)))
    assert [one.name for one in made.movable] == ["meets", "apart"] and made.settled_bytes == 12
    assert [
        [(low * made.instance.grain, high * made.instance.grain) for low, high in ranges]
        for ranges in made.instance.obstacles
    ] == [
        [(4, 12)],
        [],
    ]
    assert made.fault == ""


@pytest.mark.parametrize(
    ("fixed", "align", "capacity", "told"),
    [
        (2, 4, None, "not a multiple of its alignment"),
        (-4, 4, None, "not a multiple of its alignment"),
        (8, 4, 15, "beyond the end of pool 'ram'"),
        (16, 4, None, "inside a reserved range"),
        (8, 4, 16, ""),
    ],
)
def test_what_is_wrong_with_a_fixed_offset_is_told(fixed: int, align: int, capacity: int | None, told: str) -> None:
    made = task(ram(block("a", 8, 0, 0, align=align, fixed=fixed), capacity=capacity, reserved=((20, 24),)))
    assert told in made.fault and bool(told) is bool(made.fault)


def test_two_fixed_blocks_overlap_only_where_they_exclude_each_other() -> None:
    blocks = (block("a", 8, 0, 1, fixed=0), block("b", 8, 1, 2, fixed=4))
    assert "a, b are demanded at offsets where they overlap" in task(ram(*blocks)).fault
    assert task(ram(blocks[0], block("b", 8, 2, 2, fixed=4))).fault == ""
    assert task(replace(ram(*blocks), compatible=(("a", "b"),))).fault == ""
    assert task(ram(blocks[0], block("b", 8, 1, 2, fixed=8))).fault == ""


def test_grains_round_down_and_peaks_are_bytes() -> None:
    made = task(ram(block("a", 8, 0, 0), block("b", 12, 0, 0), capacity=43))
    assert made.instance.grain == 4 and made.capacity == 10 and made.floor == 5
    assert made.peak_bytes(5) == 20
    settled = task(ram(block("a", 8, 0, 0), block("still", 8, 1, 1, fixed=32)))
    assert settled.peak_bytes(1) == 40 and settled.floor == 40 // settled.instance.grain  # up there nothing is gained
    assert task(ram(block("a", 8, 0, 0))).capacity is None
