"""Costs of products: widths that cover all outputs, and no block cheaper than its instructions."""

from __future__ import annotations

import pytest

from tilewright_snitch.kernels.costs import integers_cycles, products_cycles, widths


@pytest.mark.parametrize("outputs", [1, 7, 8, 15, 64])
def test_widths_cover_all_outputs(outputs: int) -> None:
    assert sum(width * blocks for width, blocks in widths(outputs)) == outputs


def test_packed_floats_take_half() -> None:
    single = products_cycles(8, 64, 64, double=False, bias=False, clip=0)
    double = products_cycles(8, 64, 64, double=True, bias=False, clip=0)
    assert double > 8 * 64 * 64
    assert 0.5 < single / double < 0.6


def test_narrow_blocks_wait() -> None:
    one = products_cycles(1, 1, 64, double=True, bias=False, clip=0)
    four = products_cycles(1, 4, 64, double=True, bias=False, clip=0)
    assert four < 1.2 * one


def test_four_pixels_share_what_one_loads() -> None:
    four, one = integers_cycles(4, 32, 144, 9), integers_cycles(1, 32, 144, 9)
    assert 4 * 32 * 144 * 5 < four < 4 * one  # a product takes five cycles
