"""What copies cost: figures that were measured on GVSoC's target `snitch`, March 2026."""

from __future__ import annotations

import pytest

from tilewright_snitch.machine import TCDM_BYTES, code_cycles, fetch_cycles, store_cycles


@pytest.mark.parametrize(
    ("row", "rows", "cycles"),
    [
        (64, 1, 115), (512, 1, 115), (4096, 1, 691), (16384, 1, 3763), (32768, 1, 7861),
        (32, 8, 122), (32, 64, 518), (256, 8, 464), (256, 32, 2000), (1024, 8, 1967), (2048, 8, 3605),
    ],
)  # fmt: skip
def test_copies_to_the_scratchpad(row: int, rows: int, cycles: int) -> None:
    assert fetch_cycles(row * rows, rows) == pytest.approx(cycles, rel=0.13)


@pytest.mark.parametrize(("row", "rows", "cycles"), [(16384, 1, 4053), (65536, 1, 16050)])
def test_the_main_memory_is_busy_with_what_the_engine_has_done(row: int, rows: int, cycles: int) -> None:
    """What a line of instructions waits after such a copy; the engine says after 82 cycles that it has done 16 KiB."""
    assert store_cycles(row * rows, rows) == pytest.approx(cycles, rel=0.03)


@pytest.mark.parametrize(("row", "rows"), [(64, 1), (32, 8), (32, 64), (256, 32)])
def test_rows_out_of_the_scratchpad_take_a_cycle_each(row: int, rows: int) -> None:
    assert store_cycles(row * rows, rows) - store_cycles(row * rows, 1) == rows - 1


def test_instructions_come_in_lines() -> None:
    """Thirty-two bytes in a hundred and four cycles."""
    assert code_cycles(320) == 1040


def test_nothing_costs_nothing() -> None:
    assert fetch_cycles(0, 0) == store_cycles(0, 0) == 0


def test_the_scratchpad() -> None:
    assert TCDM_BYTES == 131072
