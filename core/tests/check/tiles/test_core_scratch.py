"""Cores have scratch side by side: as much as the tile needs that is shared by most of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.tiles.core_scratch import core_scratch
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step

ENGINE = CLUSTER.engines[0].name


def product(cores: int, scratch: Callable[[TileShape], int], rows: int = 41, **changes: Any) -> Callable[..., int]:
    """What the cores need for a product of so many rows that they share."""
    bound = one_step("MatMul", (np.ones((rows, 6), np.float32), np.ones((6, 5), np.float32)), CLUSTER).bound
    (layer,) = bound.layers.values()
    changes = {"multiples": {}, "blocks": {}, "parallel": ("m",)} | changes
    kernel: Kernel = replace(layer.kernel, scratch_bytes=scratch, **changes)
    platform = replace(CLUSTER, engines=(replace(CLUSTER.engines[0], cores=cores),))

    def needed(most: int, *lengths: int) -> int:
        largest = layer.tile(layer.whole.box | {"m": (0, most)})
        return core_scratch(platform, ENGINE, kernel, largest, {"m": np.array(lengths or (most,))})

    return needed


def test_a_smaller_tile_may_be_shared_by_more_cores() -> None:
    needed = product(8, lambda tile: 10)
    assert needed(41) == 6 * 16 + 10
    assert needed(41, 41, 40) == 7 * 16 + 10
    assert needed(41, 41, 0) == 6 * 16 + 10


def test_one_core_begins_where_all_scratch_does() -> None:
    assert product(1, lambda tile: 10)(41) == 10
    assert product(8, lambda tile: 10, parallel=())(41, 41, 40) == 10


def test_no_scratch_is_none_for_any_number_of_cores() -> None:
    assert product(8, lambda tile: 0)(41, 41, 40) == 0


def test_a_share_needs_what_the_largest_does() -> None:
    """Six trips of seven cores; eight each where whole blocks are shared."""
    assert product(8, lambda tile: tile.extent("m"))(41, 41) == 6 * 8 + 6
    assert product(8, lambda tile: tile.extent("m"), multiples={"m": 8})(41, 41) == 5 * 8 + 8


@pytest.mark.slow
@pytest.mark.parametrize("grain", [1, 4])
@given(most=st.integers(2, 60), others=st.lists(st.integers(0, 59), max_size=3), cores=st.integers(2, 9))
def test_it_is_where_the_last_core_ends_that_has_trips(grain: int, most: int, others: list[int], cores: int) -> None:
    """As `tw_share` gives them out, played core by core."""
    lengths = [most, *(length % most for length in others)]
    needed = product(cores, lambda tile: 24, rows=60, multiples={"m": grain})(most, *lengths)
    busy = {0}
    for length in lengths:
        trips = (length + cores * grain - 1) // (cores * grain) * grain
        busy |= {core for core in range(cores) if core * trips < length}
    alone = most <= grain
    assert needed == (24 if alone else (max(busy) + 1) * 24)
