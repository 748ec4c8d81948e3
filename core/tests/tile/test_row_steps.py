"""How steps are computed row by row: along which loop, and which rows each trip reads."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory
from tilewright.testing.sketch import Sketch
from tilewright.tile.row_steps import MOST_TRIPS, Columns, RowStep, RowSteps

WINDOWS: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (2, 2), "dilations": (1, 1), "pads": (1, 0, 0, 0), "ceil_mode": 0,
}  # fmt: skip
ONE_TAP: dict[str, Attribute] = {"kernel_shape": (1, 1), "strides": (1, 1), "pads": (0, 0, 0, 0), "group": 1}


def image(shape: tuple[int, ...] = (1, 2, 9, 6)) -> tuple[Sketch, str]:
    """A network that begins with a convolution over an image, which leaves its shape as it is."""
    sketch = Sketch(operators=vocabulary())
    x, channels = sketch.input("x", DType.F32, shape), shape[1]
    weights = sketch.constant(np.ones((channels, channels, 1, 1), np.float32))
    return sketch, sketch.node("Conv", (x, weights), {**WINDOWS, **ONE_TAP})


def last(sketch: Sketch, *outputs: str) -> RowStep:
    """The last step of what was sketched."""
    machine = on_one_memory(sketch.finish(*outputs))
    return RowSteps(machine).at(len(machine.scheduled.steps) - 1)


def test_rows_of_an_image_are_along_its_height() -> None:
    sketch, x = image()
    one = last(sketch, sketch.node("MaxPool", (x,), WINDOWS))
    assert (one.loop, one.extent, one.axis, one.rows) == ("h", 4, 2, 4)
    assert one.row_bytes == 2 * 2 * 4


def test_windows_are_clipped_and_go_on_by_the_stride() -> None:
    sketch, x = image()
    (read,) = last(sketch, sketch.node("MaxPool", (x,), WINDOWS)).reads
    assert read.high == (2, 4, 6, 8)
    assert read.low == (0, 1, 3, 5, 7)  # the last: of a step that has come to its end


def test_rows_of_a_signal_are_along_its_time() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 3, 50))
    weights = sketch.constant(np.ones((4, 3, 5), np.float32))
    windows: dict[str, Attribute] = {"kernel_shape": (5,), "strides": (1,), "dilations": (1,), "pads": (0, 0)}
    y = sketch.node("Conv", (x, weights), {**windows, "ceil_mode": 0, "group": 1})
    assert (last(sketch, y).axis, last(sketch, y).extent) == (2, 46)


def test_a_sum_over_the_image_is_computed_in_parts() -> None:
    sketch, x = image()
    one = last(sketch, sketch.node("ReduceSum", (x,), {"axes": (2, 3), "keepdims": 0}))
    assert one.sums is not None and one.sums.loops == ("r2",) == (one.loop,)
    assert (one.extent, one.axis, one.sums_bytes) == (9, None, 2 * 4)
    assert one.reads[0].high == tuple(range(1, 10))


def test_a_product_over_everything_is_one_call() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 18))
    one = last(sketch, sketch.node("Gemm", (x, sketch.constant(np.ones((18, 5), np.float32))), {}))
    assert (one.loop, one.extent, one.axis, one.rows) == ("", 1, None, 1)
    assert (one.reads[0].low, one.reads[0].high) == ((0, 0), (1,))


def test_axes_that_counters_have_no_room_for_are_refused() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 70000))
    assert "65535 positions" in last(sketch, sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0})).cannot


def test_trips_of_a_call_are_so_many_that_the_table_stays_short() -> None:
    sketch, x = image((1, 1, 4 * MOST_TRIPS, 2))
    one = last(sketch, sketch.node("Clip", (x,), {"min": 0.0, "max": 3.0}))
    assert (one.trips(1), one.trips(8)) == (4, 8)
    assert replace(one, grain=3).trips(1) == 6


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_a_call_of_fewer_rows_is_shorter(rows: int) -> None:
    sketch, x = image()
    machine = on_one_memory(sketch.finish(sketch.node("MaxPool", (x,), WINDOWS)))
    steps = RowSteps(machine)
    whole, part = steps.call(steps.at(1), 4), steps.call(steps.at(1), rows)
    assert part[0] == pytest.approx(whole[0] * rows / 4, rel=0.01)


def test_of_stripes_the_widest_says_how_much_of_a_row_is_held() -> None:
    sketch, x = image()
    one = last(sketch, sketch.node("MaxPool", (x,), WINDOWS))
    *_, width = one.output.shape
    striped = replace(one, columns=Columns(loop="w", axis=3, bounds=((0, width - 1), (width - 1, width))))
    assert (one.shape[3], striped.shape) == (width, (*one.output.shape[:3], width - 1))
    assert striped.row_bytes * width == one.row_bytes * (width - 1)
    assert (one.widths, striped.widths) == ((0,), (width - 1, 1))


def test_of_stripes_with_a_kept_edge_each_computes_what_comes_after_it() -> None:
    sketch, x = image()
    one = last(sketch, sketch.node("MaxPool", (x,), WINDOWS))
    *_, width = one.output.shape
    columns = Columns(loop="w", axis=3, bounds=((0, 2), (1, width)))
    assert columns.computed == columns.bounds
    striped = replace(one, columns=replace(columns, edge=1))
    assert striped.columns is not None and striped.columns.computed == ((0, 2), (2, width))
    assert (striped.widths, striped.shape[3]) == ((2, width - 2), max(2, width - 1))
    assert striped.edges_bytes == prod(one.output.shape) // width * one.output.item_bytes
    assert (one.edges_bytes, replace(one, columns=columns).edges_bytes) == (0, 0)
