"""How steps are computed row by row: along which loop, and which rows each trip reads."""

from __future__ import annotations

import numpy as np

from row_networks import POOL, image, last_by_rows
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def test_rows_of_an_image_are_along_its_height() -> None:
    sketch, x = image()
    one = last_by_rows(sketch, sketch.node("MaxPool", (x,), POOL))
    assert (one.loop, one.extent, one.axis, one.rows) == ("h", 4, 2, 4)
    assert one.row_bytes == 2 * 2 * 4


def test_windows_are_clipped_and_go_on_by_the_stride() -> None:
    sketch, x = image()
    (read,) = last_by_rows(sketch, sketch.node("MaxPool", (x,), POOL)).reads
    assert read.high == (2, 4, 6, 8)
    assert read.low == (0, 1, 3, 5, 7)  # the last: of a step that has come to its end


def test_rows_of_a_signal_are_along_its_time() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 3, 50))
    weights = sketch.constant(np.ones((4, 3, 5), np.float32))
    windows: dict[str, Attribute] = {"kernel_shape": (5,), "strides": (1,), "dilations": (1,), "pads": (0, 0)}
    y = sketch.node("Conv", (x, weights), {**windows, "ceil_mode": 0, "group": 1})
    assert (last_by_rows(sketch, y).axis, last_by_rows(sketch, y).extent) == (2, 46)


def test_a_sum_over_the_image_is_computed_in_parts() -> None:
    sketch, x = image()
    one = last_by_rows(sketch, sketch.node("ReduceSum", (x,), {"axes": (2, 3), "keepdims": 0}))
    assert one.sums is not None and one.sums.loops == ("r2",) == (one.loop,)
    assert (one.extent, one.axis, one.sums_bytes) == (9, None, 2 * 4)
    assert one.reads[0].high == tuple(range(1, 10))


def test_a_product_over_everything_is_one_call() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 18))
    one = last_by_rows(sketch, sketch.node("Gemm", (x, sketch.constant(np.ones((18, 5), np.float32))), {}))
    assert (one.loop, one.extent, one.axis, one.rows) == ("", 1, None, 1)
    assert (one.reads[0].low, one.reads[0].high) == ((0, 0), (1,))


def test_axes_that_counters_have_no_room_for_are_refused() -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 70000))
    assert "65535 positions" in last_by_rows(sketch, sketch.node("Clip", (x,), {"min": 0.0, "max": 6.0})).cannot
