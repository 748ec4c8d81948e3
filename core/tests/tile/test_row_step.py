"""A step that is computed by rows: trips of a call, stripes of columns, and what of a row is held."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory
from tilewright.testing.sketch import Sketch
from tilewright.tile.row_step import MOST_TRIPS, Columns, RowStep
from tilewright.tile.row_steps import RowSteps

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


def test_trips_of_a_call_are_so_many_that_the_table_stays_short() -> None:
    sketch, x = image((1, 1, 4 * MOST_TRIPS, 2))
    one = last(sketch, sketch.node("Clip", (x,), {"min": 0.0, "max": 3.0}))
    assert (one.trips(1), one.trips(8)) == (4, 8)
    assert replace(one, grain=3).trips(1) == 6


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
