"""Images that are read flattened: which trips of the reduction are a row."""

from __future__ import annotations

import numpy as np

from row_networks import on_one_memory
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.region import SplitReduction
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep

ONE_TAP: dict[str, Attribute] = {
    "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
}  # fmt: skip


def product(shape: tuple[int, ...], *, last: bool = False) -> BufferedStep:
    """Of a convolution's output, its channels `last` or not, flattened to [N, everything]."""
    sketch = Sketch(operators=vocabulary())
    batch, channels, *spatial = shape
    x = sketch.node(
        "Conv",
        (sketch.input("x", DType.F32, shape), sketch.constant(np.ones((channels, channels, 1, 1), np.float32))),
        ONE_TAP,
    )
    x = sketch.node("Transpose", (x,), {"perm": (0, 2, 3, 1)}) if last else x
    elements = int(np.prod((channels, *spatial)))
    x = sketch.node("Reshape", (x,), {"shape": (batch, elements)})
    y = sketch.node("Gemm", (x, sketch.constant(np.ones((elements, 5), np.float32))), {})
    machine = on_one_memory(sketch.finish(y))
    return LineBufferAnalysis(machine).at(len(machine.scheduled.steps) - 1)


def parts(one: BufferedStep) -> tuple[int, int]:
    """Runs of a row, and trips in each."""
    assert isinstance(one.sums, SplitReduction)
    return one.flattened.runs, one.flattened.length


def test_of_channels_first_a_row_is_a_run_in_each_channel() -> None:
    one = product((1, 3, 6, 4))
    assert (one.loop, one.extent, one.axis) == ("k", 6, None)
    assert parts(one) == (3, 4)


def test_of_channels_last_a_row_is_one_run() -> None:
    one = product((1, 3, 6, 4), last=True)
    assert (one.loop, one.extent) == ("k", 6)
    assert parts(one) == (1, 12)


def test_every_call_reads_the_row_of_the_image_that_has_come() -> None:
    (read,) = product((1, 3, 6, 4)).reads
    assert (read.value.startswith("Conv"), read.view.startswith("Reshape")) == (True, True)
    assert (read.low, read.high) == (tuple(range(7)), tuple(range(1, 7)))


def test_several_images_are_read_whole() -> None:
    one = product((2, 3, 6, 4))
    assert one.sums is None
    assert all(read.high == (read.high[0],) * len(read.high) for read in one.reads if read.view)


def test_an_image_of_one_row_is_read_whole() -> None:
    one = product((1, 3, 1, 1))
    assert (one.loop, one.sums) == ("", None)
