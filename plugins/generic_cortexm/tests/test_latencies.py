"""What instructions take: latencies by class, jumps, and lines out of flash."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("core", ["m0plus", "m3", "m4", "m33"])
def test_no_instruction_takes_less_than_a_cycle_where_one_is_issued_at_a_time(core: str) -> None:
    latencies = LATENCIES[core]
    assert min(latencies.classes.values(), default=1) >= 1 and latencies.other >= 1
    assert latencies.classes.get("load", 1) + latencies.extras.get("paired", 0) >= 1
