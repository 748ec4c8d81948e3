"""Ranges of values, and of cells in steps that no result shows."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import helper

from tilewright.quantize.recurrent_ranges import Range, largest_cell, range_of

INT8, INT16 = np.dtype(np.int8), np.dtype(np.int16)


def test_values_are_covered_with_0_among_them() -> None:
    assert range_of([np.float32([2.55, 1.0])], INT8) == Range(scale=float(np.float32(2.55 / 255)), zero_point=-128)
    assert range_of([np.float32([-1.0]), np.float32([1.55])], INT8).zero_point == -28
    assert range_of([np.float32([-2.0, 1.0])], INT16) == Range(scale=float(np.float32(2 / 32767)), zero_point=0)
    assert range_of([np.zeros(3, np.float32)], INT8).scale > 0


@pytest.mark.parametrize("layout", [0, 1])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_cell_that_falls_again_is_seen(direction: str, layout: int) -> None:
    """Gates that are open: the cell counts what comes in, up and down again; its last value is 0."""
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y"], direction=direction, layout=layout)
    steps = np.array([9.0] * 5 + [-9.0] * 5, np.float32).reshape(10, 1, 1)
    weights = np.zeros((1, 4, 1), np.float32)
    weights[0, 3] = 1
    bias = np.zeros((1, 8), np.float32)
    bias[0, :3] = 30
    x = steps.swapaxes(0, 1) if layout else steps
    assert largest_cell(node, {"x": [x]}, [weights, np.zeros((1, 4, 1)), bias]) == pytest.approx(5, abs=1e-3)


def test_a_cell_begins_where_its_state_is() -> None:
    node = helper.make_node("LSTM", ["x", "w", "r", "", "", "", "c"], ["y"])
    seen = {"x": [np.zeros((2, 1, 1), np.float32)], "c": [np.full((1, 1, 1), -7.0, np.float32)]}
    assert largest_cell(node, seen, [np.zeros((1, 4, 1)), np.zeros((1, 4, 1)), None]) == 7
