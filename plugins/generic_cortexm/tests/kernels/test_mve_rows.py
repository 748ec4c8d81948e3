"""How blocks of Helium go through pixels: steps, pixels at once, and what one reads where it lies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright_cortexm.kernels.mve_rows import (
    all_pixels,
    block_instructions,
    channel_runs_of,
    pixels_together,
    room_of,
    steps_of,
)
from tilewright_cortexm.kernels.products import Rows

ROWS = Rows(
    batches=1, width=7, height=5, channels=16, out_width=7, pixels=35, outputs=10, row_taps=3, column_runs=1, run_taps=3
)


@pytest.mark.parametrize(("channels", "steps"), [(1, (0, 0)), (16, (3, 3)), (32, (3, 6)), (20, (1, 11))])
def test_steps_of_sixteen_are_written_out_as_often_as_their_number_allows(
    channels: int, steps: tuple[int, int]
) -> None:
    assert steps_of(replace(ROWS, channels=channels)) == steps


def test_two_pixels_go_together_where_there_are_two_and_both_have_room() -> None:
    assert room_of(replace(ROWS, channels=1)) == 16
    assert pixels_together(ROWS) == 2
    assert pixels_together(replace(ROWS, pixels=1)) == 1
    assert pixels_together(replace(ROWS, single=True)) == 1
    assert pixels_together(replace(ROWS, channels=256)) == 1


def test_channels_come_in_fours_and_a_rest() -> None:
    assert channel_runs_of(ROWS) == [(0, 2, 4), (8, 1, 2)]
    assert channel_runs_of(replace(ROWS, outputs=3)) == [(0, 1, 3)]


def test_the_last_pixel_of_a_row_of_a_stripe_is_alone() -> None:
    each = {2: 100.0, 1: 70.0}
    assert all_pixels(ROWS, ROWS, each.__getitem__) == 18 * 100
    assert all_pixels(ROWS, replace(ROWS, out_width=3, pixels=15), each.__getitem__) == 5 * (100 + 70)
    assert block_instructions(ROWS, 1) < block_instructions(ROWS, 2) < 2 * block_instructions(ROWS, 1)
