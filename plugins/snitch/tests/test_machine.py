"""What copies cost: figures that were measured on GVSoC's target `snitch`, March 2026."""

from __future__ import annotations

import pytest

from tilewright_snitch.machine import TCDM_BYTES, fetch_cycles, store_cycles


@pytest.mark.parametrize(
    ("row", "rows", "cycles"),
    [
        (64, 1, 115), (512, 1, 115), (4096, 1, 691), (16384, 1, 3763), (32768, 1, 7861),
        (32, 8, 122), (32, 64, 518), (256, 8, 464), (256, 32, 2000), (1024, 8, 1967), (2048, 8, 3605),
    ],
)  # fmt: skip
def test_copies_to_the_scratchpad(row: int, rows: int, cycles: int) -> None:
    assert fetch_cycles(row * rows, rows) == pytest.approx(cycles, rel=0.13)


@pytest.mark.parametrize(
    ("row", "rows", "cycles"),
    [(64, 1, 16), (4096, 1, 31), (16384, 1, 82), (32, 8, 23), (32, 64, 77), (256, 32, 53), (1024, 8, 50)],
)
def test_copies_out_of_the_scratchpad(row: int, rows: int, cycles: int) -> None:
    assert abs(store_cycles(row * rows, rows) - cycles) < 28


def test_nothing_costs_nothing() -> None:
    assert fetch_cycles(0, 0) == store_cycles(0, 0) == 0


def test_the_scratchpad() -> None:
    assert TCDM_BYTES == 131072
