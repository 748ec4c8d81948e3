"""What copies cost: the figure that was measured, and rows that are bursts of their own."""

from __future__ import annotations

import pytest

from tilewright_snitch.machine import BURST_CYCLES, TCDM_BYTES, copy_cycles


def test_the_copy_that_was_measured() -> None:
    assert 2 * copy_cycles(18 << 10, 1) == pytest.approx(8700, rel=0.01)


def test_rows_are_bursts() -> None:
    assert copy_cycles(64 * 16, 64) == 64 * BURST_CYCLES
    assert copy_cycles(64 * 16, 1) == 2 * BURST_CYCLES
    assert copy_cycles(0, 0) == 0


def test_the_scratchpad() -> None:
    assert TCDM_BYTES == 131072
