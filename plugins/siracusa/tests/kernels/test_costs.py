"""Cycles from the structure of loops: edges counted pixel by pixel, and costs that grow as loops do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tilewright.api.kernel import Windows
from tilewright_siracusa.kernels.costs import (
    edges_of,
    leading_trips,
    matmul_cycles,
    products_cycles,
    trips,
    vector_cycles,
)

small = st.integers(1, 3)


@given(small, small, st.integers(0, 2), st.integers(0, 2), st.integers(1, 9))
def test_edges_are_counted(taps: int, stride: int, before: int, after: int, extent: int) -> None:
    windows = Windows(
        kernel=(1, taps), strides=(1, stride), dilations=(1, 2), before=(0, before), after=(0, after)
    )  # fmt: skip
    (rows, columns) = windows.outputs((4, extent))
    assume(columns > 0)
    outside = []
    for column in range(columns):
        at = [column * stride - before + 2 * tap for tap in range(taps)]
        outside.append(min(at) < 0 or max(at) >= extent)
    pairs = [outside[first : first + 2] for first in range(0, columns, 2)]
    found = edges_of(windows, (4, extent), (rows, columns))
    assert found.columns == sum(outside) / columns
    assert found.pairs == sum(map(any, pairs)) / len(pairs)
    assert (found.rows, found.row_pairs) == (0, 0)


def test_trips_of_loops() -> None:
    tile: Any = SimpleNamespace(box={"_lead0": (0, 3), "_lead1": (2, 4), "h": (4, 9)})
    assert (trips(tile, "h", "w"), trips(tile), leading_trips(tile)) == (5, 1, 6)


def test_blocks_of_four_channels() -> None:
    """Up to a whole block nothing is saved; pairs of pixels are cheaper than single ones."""
    costs = [products_cycles(8, outputs, 10, 3.0, 0.0, False) for outputs in (1, 4, 5, 8)]
    assert costs[0] == costs[1] < costs[2] == costs[3]
    pixel, pair = (products_cycles(pixels, 4, 10, 3.0, 0.0, False) for pixels in (1, 2))
    assert pixel < pair < 2 * pixel


@pytest.mark.parametrize("finished", [0.1, 0.5])
def test_parts_cost_less_than_what_finishes(finished: float) -> None:
    whole, part = (vector_cycles(8, 64, share) for share in (1.0, finished))
    assert part < whole < part / finished
    assert products_cycles(8, 4, 10, 3.0, 0.0, False, finished) < products_cycles(8, 4, 10, 3.0, 0.0, False)


def test_rows_that_are_no_whole_words_are_copied() -> None:
    assert vector_cycles(4, 65) - vector_cycles(4, 68) == 1.5 * 65
    assert matmul_cycles(6, 8, 17, row_sums=False) > matmul_cycles(6, 8, 20, row_sums=False)
    assert matmul_cycles(6, 8, 20, row_sums=True) - matmul_cycles(6, 8, 20, row_sums=False) == pytest.approx(
        6 * 5 * 2.9
    )
