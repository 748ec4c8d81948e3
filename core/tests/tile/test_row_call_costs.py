"""What calls take: by trips, and once for layers that differ in nothing which that depends on."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute
from tilewright.testing.one_step import vocabulary
from tilewright.testing.row_networks import on_one_memory
from tilewright.testing.sketch import Sketch
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


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_a_call_of_fewer_rows_is_shorter(rows: int) -> None:
    sketch, x = image()
    machine = on_one_memory(sketch.finish(sketch.node("MaxPool", (x,), WINDOWS)))
    steps = RowSteps(machine)
    whole, part = steps.calls.cost(steps.at(1), 4), steps.calls.cost(steps.at(1), rows)
    assert part[0] == pytest.approx(whole[0] * rows / 4, rel=0.01)


def test_layers_with_other_weights_are_of_one_kind_and_with_other_strides_are_not() -> None:
    sketch, value = image((1, 4, 16, 16))
    for number, stride in enumerate((1, 1, 2)):
        weights = sketch.constant(np.full((4, 4, 1, 1), float(number), np.float32))
        windows = {**ONE_TAP, "dilations": (1, 1), "pads": (0, 0, 0, 0), "strides": (stride, stride)}
        value = sketch.node("Conv", (value, weights), windows)
    steps = RowSteps(on_one_memory(sketch.finish(value)))
    _, one, other, strided = (steps.at(number) for number in range(4))
    assert steps.calls.kind(one) == steps.calls.kind(other) != steps.calls.kind(strided)
    known = steps.calls.cost(one, 2)
    assert steps.calls.cost(other, 2) == known != steps.calls.cost(strided, 2)
    assert len(steps.calls.costs.calls) == 2
