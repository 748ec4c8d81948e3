"""What calls take: by trips, and once for layers that differ in nothing which that depends on."""

from __future__ import annotations

import numpy as np
import pytest

from row_networks import ONE_TAP, POOL, image, on_one_memory
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_a_call_of_fewer_rows_is_shorter(rows: int) -> None:
    sketch, x = image()
    machine = on_one_memory(sketch.finish(sketch.node("MaxPool", (x,), POOL)))
    steps = LineBufferAnalysis(machine)
    whole, part = steps.calls.cost(steps.at(1), 4), steps.calls.cost(steps.at(1), rows)
    assert part[0] == pytest.approx(whole[0] * rows / 4, rel=0.01)


def test_layers_with_other_weights_are_of_one_kind_and_with_other_strides_are_not() -> None:
    sketch, value = image((1, 4, 16, 16))
    for number, stride in enumerate((1, 1, 2)):
        weights = sketch.constant(np.full((4, 4, 1, 1), float(number), np.float32))
        windows = {**ONE_TAP, "strides": (stride, stride)}
        value = sketch.node("Conv", (value, weights), windows)
    steps = LineBufferAnalysis(on_one_memory(sketch.finish(value)))
    _, one, other, strided = (steps.at(number) for number in range(4))
    assert steps.calls.signature(one) == steps.calls.signature(other) != steps.calls.signature(strided)
    known = steps.calls.cost(one, 2)
    assert steps.calls.cost(other, 2) == known != steps.calls.cost(strided, 2)
    assert len(steps.calls.costs.calls) == 2
