"""The functions for the rows of single steps, as text."""

from __future__ import annotations

import re

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.kernel_fallback import Fitting
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


@pytest.fixture(name="text", scope="module")
def _text() -> str:
    """A convolution of three taps, one of one tap in strides of two, and a sum over everything."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 4, 16, 16))
    windows: dict[str, Attribute] = {"dilations": (1, 1), "ceil_mode": 0, "group": 1}
    three: dict[str, Attribute] = {**windows, "kernel_shape": (3, 3), "strides": (1, 1), "pads": (1,) * 4}
    one: dict[str, Attribute] = {**windows, "kernel_shape": (1, 1), "strides": (2, 2), "pads": (0,) * 4}
    y = sketch.node("Conv", (x, sketch.constant(np.ones((8, 4, 3, 3), np.float32))), three)
    y = sketch.node("Conv", (y, sketch.constant(np.ones((8, 8, 1, 1), np.float32))), one)
    z = sketch.node("ReduceSum", (y,), {"axes": (2, 3), "keepdims": 0})
    return generated(sketch.finish(z))


def generated(graph: Graph) -> str:
    """The C of a network in the least memory."""
    planner = portable_planner(optimize="ram")
    plan = Fitting(planner=planner).plan(planner.bind(graph, ONE_MEMORY))
    made = emit(lower(plan, vocabulary(), "net"), EmitOptions(const_format="c"))
    return made.files["net.c"].decode()


def function(text: str, number: int) -> str:
    """The rows of a step."""
    found = re.search(rf"TW_SHARED void net_{number}_\w+_rows\(.*?\n}}\n", text, re.DOTALL)
    assert found is not None
    return found.group()


def test_room_is_made_for_rows_from_the_first_that_is_still_read(text: str) -> None:
    assert re.search(r"tw_make_room\(&rows\[0\], row \+ 1, 2 \* rows\[1\]\.made, ", function(text, 0))


def test_windows_are_clipped_where_padding_is_read(text: str) -> None:
    assert "tw_span_clipped(row - 1, row + 2, 16)" in function(text, 0)
    assert "tw_span_clipped" not in function(text, 1)


def test_reads_begin_at_the_first_row_that_is_there(text: str) -> None:
    assert "rows[0].first" in function(text, 1)


def test_sums_begin_with_the_first_row_and_end_with_the_last(text: str) -> None:
    assert "row == 0" in function(text, 2) and "(row + 1) == 8" in function(text, 2)


def test_every_step_says_what_it_has_made(text: str) -> None:
    assert all(f"tw_made(&rows[{number}], row + 1);" in function(text, number) for number in range(3))


def flattened(*, last: bool) -> str:
    """The rows of a product over what a convolution makes, four channels of 12 x 10, flattened."""
    sketch = Sketch(operators=vocabulary())
    y = sketch.input("x", DType.F32, (1, 2, 12, 10))
    taps: dict[str, Attribute] = {"kernel_shape": (3, 3), "strides": (1, 1), "pads": (1,) * 4, "dilations": (1, 1)}
    for channels in (2, 4):
        weights = sketch.constant(np.ones((4, channels, 3, 3), np.float32))
        y = sketch.node("Conv", (y, weights), {**taps, "group": 1})
    y = sketch.node("Transpose", (y,), {"perm": (0, 2, 3, 1)}) if last else y
    y = sketch.node("Reshape", (y,), {"shape": (1, 480)})
    z = sketch.node("Gemm", (y, sketch.constant(np.ones((480, 7), np.float32))), {})
    return function(generated(sketch.finish(z)), 2)


def test_of_channels_first_there_is_a_call_of_the_kernel_for_each_channel() -> None:
    text = flattened(last=False)
    assert "for (int32_t run = 0; run < 4; ++run)" in text
    assert "(row == 0) && (run == 0)" in text and "((row + 1) == 12) && (run == 3)" in text


def test_of_channels_last_a_row_is_one_call_of_the_kernel() -> None:
    text = flattened(last=True)
    assert "run" not in text.replace("tw_run", "")
    assert "row == 0" in text and "(row + 1) == 12" in text
    assert ".depth = 40" in text
