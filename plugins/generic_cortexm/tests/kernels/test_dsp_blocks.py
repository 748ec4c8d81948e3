"""Blocks of columns and channels: everything is computed, and no more scratch is taken than there is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright_cortexm.kernels.dsp_blocks import (
    SCRATCH_LIMIT_BYTES,
    block_channels,
    channel_blocks,
    channel_runs,
    columns_together,
    fours_of,
    is_direct,
    is_narrow,
    of_stripe,
    pairs_among,
    pairs_of_channels,
    scratch,
)
from tilewright_cortexm.kernels.products import Rows

ONE = Rows(
    batches=1, width=5, height=5, channels=16, out_width=5, pixels=25, outputs=9, row_taps=1, column_runs=1, run_taps=1
)


def test_every_channel_is_in_one_block_and_one_pair() -> None:
    for rows in (ONE, replace(ONE, groups=3), replace(ONE, pixels=1), replace(ONE, outputs=1)):
        channels = list(range(rows.y_step))
        assert [channel for block in channel_blocks(rows) for channel in block] == channels
        assert [channel for pair in pairs_of_channels(rows) for channel in pair] == channels
        assert sum(count * size for _, count, size in channel_runs(rows)) == rows.outputs
        assert max(size for _, _, size in channel_runs(rows)) <= block_channels(rows)


@pytest.mark.parametrize("most", [1, 3])
def test_no_column_of_a_stripe_is_computed_twice(most: int) -> None:
    for width in range(1, 20):
        blocks = of_stripe(width, most)
        assert sum(blocks) == width and max(blocks) <= most
    assert of_stripe(4, 3) == [2, 2]


def test_pairs_of_columns_where_threes_would_waste_much() -> None:
    assert [pairs_among(ONE, pixels) for pixels in (3, 4, 5, 6, 25)] == [0, 2, 1, 0, 0]


def test_columns_are_widened_where_there_is_room() -> None:
    assert fours_of(replace(ONE, channels=17)) == 5
    assert columns_together(ONE) == 3 and not is_narrow(ONE) and scratch(ONE, 3) == 4 * 3 * 8
    wide = replace(ONE, channels=2000)
    assert columns_together(wide) == 1 and not is_narrow(wide) and scratch(wide, 1) <= SCRATCH_LIMIT_BYTES
    wider = replace(ONE, channels=4000)
    assert is_narrow(wider) and is_direct(wider) and scratch(wider, 1) == 0
    assert not is_direct(replace(wider, column_stride=2))
