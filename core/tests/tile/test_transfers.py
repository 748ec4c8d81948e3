"""Windows as transfers: together they move every byte of the window, as the path can take them."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.access.index import Span
from tilewright.ir.rounding import ceil_div
from tilewright.testing.cluster import copy_path
from tilewright.tile.memory_path import Transfers, strided_copy, transfers

PATH = copy_path("l2", "l1")


@pytest.mark.slow
@given(st.data())
def test_every_byte_travels_once(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    extents = [data.draw(st.integers(0, extent)) for extent in shape]
    room = [data.draw(st.integers(extent, whole)) for extent, whole in zip(extents, shape, strict=True)]
    steps = [data.draw(st.integers(1, 2)) for _ in shape]
    layout = tuple(data.draw(st.permutations(range(len(shape)))))
    path = replace(PATH, dimensions=data.draw(st.integers(1, 2)))
    found = transfers(extents, shape, [max(one, 1) for one in room], layout, 4, path, steps)
    assert found.size_bytes == 4 * prod(ceil_div(extent, step) for extent, step in zip(extents, steps, strict=True))
    assert found.rows == 1 or path.dimensions == 2 or not found.size_bytes
    assert (found.cycles(path) == 0) == (found.size_bytes == 0)


def test_what_has_no_gap_is_one_run() -> None:
    assert transfers((2, 3, 4), (2, 3, 4), (2, 3, 4), (0, 1, 2), 2, PATH) == Transfers(run_bytes=48, rows=1, count=1)
    assert transfers((2, 3, 4), (2, 5, 4), (2, 3, 4), (0, 1, 2), 2, PATH) == Transfers(run_bytes=24, rows=2, count=1)
    assert transfers((2, 3, 4), (2, 5, 6), (2, 3, 4), (0, 1, 2), 2, PATH) == Transfers(run_bytes=8, rows=3, count=2)


@pytest.mark.parametrize(("most", "pieces"), [(None, 1), (48, 1), (47, 2), (24, 2), (23, 3), (16, 3), (8, 6), (5, 12)])
def test_what_is_too_long_is_cut_into_rows_and_then_within_them(most: int | None, pieces: int) -> None:
    """Six rows of 8 bytes."""
    found = transfers((6, 8), (6, 9), (6, 8), (0, 1), 1, replace(PATH, max_bytes=most))
    assert (found.run_bytes, found.rows, found.pieces) == (8, 6, pieces)


def test_time_is_that_of_every_piece() -> None:
    path = replace(PATH, cycles=lambda size, rows: 100.0 + size + rows)
    assert Transfers(run_bytes=10, rows=3, count=2).cycles(path) == 2 * (100 + 30 + 3)
    assert Transfers(run_bytes=10, rows=4, count=1, pieces=2).cycles(path) == 2 * (100 + 20 + 2)


@pytest.mark.parametrize(("align", "most", "run", "pieces"), [(1, None, 6, 1), (4, None, 8, 1), (4, 7, 8, 2)])
def test_what_is_moved_beside_a_run_is_counted(align: int, most: int | None, run: int, pieces: int) -> None:
    moved = transfers((1, 6), (6, 8), (6, 8), (0, 1), 1, replace(PATH, align=align, max_bytes=most))
    assert (moved.run_bytes, moved.pieces, moved.size_bytes) == (run, pieces, run)


def test_only_long_rows_are_left_out() -> None:
    window = (Span(low=0, high=9, step=2), Span(low=0, high=9, step=2))
    assert strided_copy(window, (9, 64), (0, 1), 1, PATH) == (2, 1)
    assert strided_copy(window, (9, 64), (0, 1), 1, replace(PATH, align=8)) == (1, 1)
    assert strided_copy(window, (9, 63), (0, 1), 1, PATH) == (1, 1)
    assert strided_copy(window, (64, 9), (1, 0), 1, PATH) == (1, 2)


@pytest.mark.parametrize(("most", "rows", "count"), [(None, 6, 1), (12, 6, 1), (11, 2, 3)])
def test_planes_of_rows_are_one_transfer_where_a_path_takes_them(most: int | None, rows: int, count: int) -> None:
    """Three planes of two rows of two bytes."""
    path = replace(PATH, dimensions=3, max_bytes=most)
    found = transfers((3, 2, 2), (4, 5, 6), (3, 2, 2), (0, 1, 2), 1, path)
    assert (found.run_bytes, found.rows, found.count, found.pieces) == (2, rows, count, 1)
