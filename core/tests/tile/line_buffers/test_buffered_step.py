"""A step that is computed by rows: trips of a call, stripes of columns, and what of a row is held."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from row_networks import POOL, image, last_by_rows
from tilewright.tile.line_buffers.buffered_step import LARGEST_EXTENT, Columns


def test_trips_of_a_call_are_so_many_that_the_table_stays_short() -> None:
    sketch, x = image((1, 1, 4 * LARGEST_EXTENT, 2))
    one = last_by_rows(sketch, sketch.node("Clip", (x,), {"min": 0.0, "max": 3.0}))
    assert (one.extent_of(1), one.extent_of(8)) == (4, 8)
    assert replace(one, grain=3).extent_of(1) == 6


def test_of_stripes_the_widest_says_how_much_of_a_row_is_held() -> None:
    sketch, x = image()
    one = last_by_rows(sketch, sketch.node("MaxPool", (x,), POOL))
    *_, width = one.output.shape
    striped = replace(one, columns=Columns(loop="w", axis=3, bounds=((0, width - 1), (width - 1, width))))
    assert (one.shape[3], striped.shape) == (width, (*one.output.shape[:3], width - 1))
    assert striped.row_bytes * width == one.row_bytes * (width - 1)
    assert (one.widths, striped.widths) == ((0,), (width - 1, 1))


def test_of_stripes_with_a_kept_edge_each_computes_what_comes_after_it() -> None:
    sketch, x = image()
    one = last_by_rows(sketch, sketch.node("MaxPool", (x,), POOL))
    *_, width = one.output.shape
    columns = Columns(loop="w", axis=3, bounds=((0, 2), (1, width)))
    assert columns.computed == columns.bounds
    striped = replace(one, columns=replace(columns, edge=1))
    assert striped.columns is not None and striped.columns.computed == ((0, 2), (2, width))
    assert (striped.widths, striped.shape[3]) == ((2, width - 2), max(2, width - 1))
    assert striped.edges_bytes == prod(one.output.shape) // width * one.output.item_bytes
    assert (one.edges_bytes, replace(one, columns=columns).edges_bytes) == (0, 0)
