"""What instructions take: latencies by class, jumps, and lines out of flash."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.api.platform import FlashWaits
from tilewright_cortexm.cores import CORES
from tilewright_cortexm.latencies import LATENCIES, Latencies


def test_every_core_has_latencies() -> None:
    assert set(LATENCIES) == {core.name for core in CORES}


def test_cycles_are_those_of_classes_and_of_what_comes_to_them() -> None:
    one = Latencies(classes={"load": 2}, extras={"taken": 2, "paired": -1}, wait_states=5)
    counts = {
        "instructions": 99,
        "instructions.other": 10,
        "instructions.load": 4,
        "taken": 3,
        "paired": 1,
        "fetches": 2,
    }
    assert one.cycles(counts) == 10 + 8 + 6 - 1 + 10


def test_a_line_of_code_waits_for_the_flash_of_the_board_at_its_clock() -> None:
    flash = FlashWaits(up_to_hz=(30_000_000, 60_000_000, 90_000_000), condition="", divider=2)
    narrow = replace(flash, width_bits=32)
    core, counts = LATENCIES["m4"], {"fetches": 10}
    waits = [core.with_flash(each, 160_000_000).cycles(counts) for each in (flash, narrow)]
    assert waits == [40, 160]  # two of the bus are four of the core, and four reads bring a line
    assert core.with_flash(replace(flash, width_bits=256), 50_000_000).cycles(counts) == 0
    assert (
        core.with_flash(flash, 200_000_000) == core == core.with_flash(None, 80_000_000) == core.with_flash(flash, None)
    )
    assert (
        "4 wait states for 32 bits of code from flash (the board at 160 MHz)"
        in core.with_flash(narrow, 160_000_000).text
    )
    assert "width of a read not known" in core.with_flash(flash, 160_000_000).text and "typical chip" in core.text


@pytest.mark.parametrize("core", ["m7", "m55"])
def test_a_core_with_caches_waits_for_no_flash(core: str) -> None:
    flash = FlashWaits(up_to_hz=(30_000_000, 600_000_000), condition="", width_bits=64)
    assert LATENCIES[core].with_flash(flash, 480_000_000) == LATENCIES[core]
    assert "tightly coupled" in LATENCIES[core].text


@pytest.mark.parametrize("core", ["m0plus", "m3", "m4", "m33"])
def test_no_instruction_takes_less_than_a_cycle_where_one_is_issued_at_a_time(core: str) -> None:
    latencies = LATENCIES[core]
    assert min(latencies.classes.values(), default=1) >= 1 and latencies.other >= 1
    assert latencies.classes.get("load", 1) + latencies.extras.get("paired", 0) >= 1
