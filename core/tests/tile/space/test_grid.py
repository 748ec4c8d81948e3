"""Sizes and orders that are looked at: the whole step among them, fewest tiles first, no order that equals another."""

from __future__ import annotations

import numpy as np
import pytest

from layer_programs import layer_space
from tilewright.testing.cluster import cluster
from tilewright.testing.operator_layers import every_layer
from tilewright.tile.space.grid import extents_to_try, grid, orders, tile_counts

SPACES = {
    layer.name: layer_space(layer, cluster(), split=True)
    for layer in every_layer()
    if layer.name in ("Conv_same", "Gemm", "QConv_groups", "Add", "Softmax")
}


@pytest.mark.parametrize("name", SPACES)
def test_the_whole_comes_first_and_tiles_become_more(name: str) -> None:
    space = SPACES[name]
    points = grid(space)
    counts = tile_counts(space, points)
    assert points[0].tolist() == [space.extents[loop.name] for loop in space.cuts]
    assert counts[0] == 1 and (np.diff(counts) >= 0).all()
    assert len(np.unique(points, axis=0)) == len(points)


@pytest.mark.parametrize("name", SPACES)
def test_trips_cover_every_loop_without_an_empty_one(name: str) -> None:
    space = SPACES[name]
    points = grid(space)
    extents = np.array([space.extents[loop.name] for loop in space.cuts])
    trips = extents_to_try(space, points)
    assert (trips * points >= extents).all() and ((trips - 1) * points < extents).all()


@pytest.mark.parametrize("most", [64, 200, 1000])
def test_a_smaller_grid_keeps_the_largest_and_the_smallest_tiles(most: int) -> None:
    space = SPACES["Conv_same"]
    points, every = grid(space, most), grid(space)
    assert len(points) <= most < len(every)
    assert points[0].tolist() == every[0].tolist()


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_a_grid_smaller_than_two_sizes_of_each_loop_keeps_the_smallest_tiles(most: int) -> None:
    space = SPACES["Conv_same"]
    points, every = grid(space, most), grid(space)
    assert 1 <= len(points) <= max(most, 1)
    assert points[-1].tolist() == every[-1].tolist()


@pytest.mark.parametrize("name", SPACES)
def test_orders_are_permutations_with_reductions_inside(name: str) -> None:
    space = SPACES[name]
    found = list(orders(space))
    assert found and len(set(found)) == len(found)
    for order in found:
        kinds = [space.cuts[at].kind == "reduce" for at in order]
        assert sorted(order) == list(range(len(space.cuts)))
        assert kinds == sorted(kinds)
