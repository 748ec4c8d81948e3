"""Tile sizes that are chosen without a cost: the smallest, the largest, the largest in a random direction."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import pytest

from tilewright.tile.search.tiling_search import TilingSearch, at_least, first_fitting, smallest_bytes


def tile_of(found: Any) -> tuple[int, int]:
    """Rows and columns of a tile."""
    sizes = {"_lead1": 6, "_lead0": 8, **dict(found.nest)}
    return sizes["_lead1"], sizes["_lead0"]


def test_the_smallest_takes_least_and_has_the_fewest_tiles(sum_in: Any) -> None:
    """Eight bytes for each operand: two floats, which are half as many tiles as one."""
    space = sum_in(1 << 12)
    found = first_fitting(space, "single", "min", 0)
    assert found is not None and found.used_bytes == smallest_bytes(space, "single") == 3 * 8
    assert prod(tile_of(found)) == 2
    assert smallest_bytes(space, "double") == 2 * 3 * 8


def test_the_largest_has_the_fewest_tiles_that_fit(sum_in: Any) -> None:
    assert tile_of(first_fitting(sum_in(1 << 12), "single", "max", 0)) == (6, 8)
    assert prod(tile_of(first_fitting(sum_in(400), "single", "max", 0))) == 24
    assert tile_of(first_fitting(sum_in(200), "single", "max", 0)) == (2, 8)


def test_random_directions_are_the_same_for_the_same_seed_and_fit(sum_in: Any) -> None:
    space = sum_in(120)
    found = [first_fitting(space, "single", "random-max", seed) for seed in range(12)]
    assert found == [first_fitting(space, "single", "random-max", seed) for seed in range(12)]
    assert all(one is not None and one.used_bytes <= 120 for one in found)
    assert len({tile_of(one) for one in found}) > 1


@pytest.mark.parametrize("strategy", ["min", "max", "random-max"])
def test_none_where_none_fits(sum_in: Any, strategy: Any) -> None:
    assert first_fitting(sum_in(23), "single", strategy, 0) is None
    assert first_fitting(sum_in(24), "single", strategy, 0) is not None


def test_what_cuts_no_reduction_is_only_beaten_by_what_is_smaller(sum_in: Any) -> None:
    space = sum_in(1 << 12)
    smallest = first_fitting(space, "single", "min", 0)
    assert smallest is not None
    assert first_fitting(space, "single", "min", 0, smallest) is None
    assert first_fitting(space, "single", "min", 0, replace(smallest, used_bytes=25)) == smallest
    assert first_fitting(space, "single", "max", 0, smallest) is None


def test_a_point_within_some_bytes(sum_in: Any) -> None:
    search = TilingSearch(sum_in(1 << 12), "single")
    number = search.points.tolist().index([3, 8])
    assert at_least(search, number, 3 * 96 - 1) is None
    found = at_least(search, number, 3 * 96)
    assert found is not None and found.used_bytes == 3 * 96


def test_no_transfer_that_is_legal_is_no_size(sum_in: Any) -> None:
    space = sum_in(1 << 12)
    odd = tuple(replace(one, aligned_offset=False) for one in space.copied)
    assert smallest_bytes(replace(space, copied=odd), "single") == 0
