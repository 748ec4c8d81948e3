"""Cycles of layers of floats: blocks cover everything, and rows of taps inside the input are counted."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tilewright.api.kernel import Windows
from tilewright_siracusa.kernels.costs import Edges
from tilewright_siracusa.kernels.float_costs import (
    STEP,
    blocks,
    depthwise_cycles,
    matmul_cycles,
    rows_inside,
    steps_cycles,
)


@given(st.integers(0, 100))
def test_blocks_cover_all(count: int) -> None:
    found = dict(blocks(count))
    assert sum(size * many for size, many in found.items()) == count and found[1] < 4


def test_steps_are_blocks_of_both() -> None:
    assert steps_cycles(4, 8) == 2 * STEP[4, 4]
    assert steps_cycles(5, 6) == STEP[4, 4] + 2 * STEP[4, 1] + STEP[1, 4] + 2 * STEP[1, 1]
    assert steps_cycles(16, 16) < 16 * 16 * STEP[1, 1]


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2), st.integers(0, 2), st.integers(1, 9))
def test_rows_inside(taps: int, stride: int, dilation: int, before: int, after: int, extent: int) -> None:
    windows = Windows(
        kernel=(taps, 1), strides=(stride, 1), dilations=(dilation, 1), before=(before, 0), after=(after, 0)
    )  # fmt: skip
    outputs = windows.outputs((extent, 1))[0]
    assume(outputs > 0)
    inside = [
        0 <= row * stride - before + tap * dilation < extent for row in range(outputs) for tap in range(taps)
    ]  # fmt: skip
    assert rows_inside(windows, extent, outputs) == sum(inside) / outputs


def test_products_need_their_steps() -> None:
    assert matmul_cycles(8, 8, 100) > 4 * STEP[4, 4] * 100
    assert matmul_cycles(8, 8, 100) - matmul_cycles(8, 8, 99) == 4 * STEP[4, 4]


@pytest.mark.parametrize(("rows", "columns"), [(0.0, 0.25), (0.25, 0.0)])
def test_pixels_at_an_edge_cost_more(rows: float, columns: float) -> None:
    plain = depthwise_cycles(4, 4, 2, 9, Edges(0, 0, 0, 0))
    edged = depthwise_cycles(4, 4, 2, 9, Edges(columns, 0, rows, 0))
    assert edged - plain == pytest.approx(32 * 0.25 * (3.0 * 9 + 22))
