"""Wait states by clock: each limit belongs to the smaller number, and nothing is above the last."""

from __future__ import annotations

import pytest

from tilewright.ir.machines.flash_waits import FlashWaits


@pytest.mark.parametrize(("clock_hz", "waits"), [(1, 0), (30, 0), (31, 1), (60, 1), (61, 2), (64, 2), (65, None)])
def test_a_limit_belongs_to_what_is_up_to_it(clock_hz: int, waits: int | None) -> None:
    assert FlashWaits(up_to_hz=(30, 60, 64), condition="2.7 V to 3.6 V").at(clock_hz) == waits


def test_a_bus_that_is_slower_than_the_core_counts_its_own_clocks() -> None:
    half = FlashWaits(up_to_hz=(70, 140), condition="VOS 0", divider=2)
    assert (half.bus_hz(140), half.at(140), half.bus_hz(141), half.at(141), half.at(281)) == (70, 0, 71, 1, None)
