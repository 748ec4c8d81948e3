"""What `--within`, `--drop` and a target say of room, and what is planned there."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from tilewright.cli.quantize_within import Place, Plans, demand_place, place_of
from tilewright.errors import TilewrightError
from tilewright.exploration.estimate import Estimate
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.quantize.bits import Bits
from tilewright.quantize.search import Room

NOTHING = {"within": "", "drop": "", "target": "", "board": "", "clock": "", "io_type": ""}
SMALL = Platform(name="small", memories=(Memory(name="sram", size_bytes=None),))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A target with one memory."""

    class Registry:
        platforms: ClassVar = {"small": SMALL}

    monkeypatch.setattr("tilewright.plugins.loading.load_named", lambda *named: Registry)


def place(**flags: str) -> Place | None:
    return place_of(**{**NOTHING, **flags})


def test_without_room_or_drop_there_is_no_place() -> None:
    assert place(target="small") is None


def test_amounts_are_read_each_in_its_unit() -> None:
    found = place(within="ram=20K, flash=65536,ms=2.5", drop="1.5%", target="small", clock="80MHz")
    assert found is not None
    assert (found.room, found.drop) == (Room(ram=20480, flash=65536, ms=2.5), 0.015)
    assert (found.target, found.memory) == ("small", "sram")
    assert found.check_flags() == ("--target", "small", "--memory", "sram=20480")
    only = place(drop="0%", target="small")
    assert only is not None and (only.room, only.drop, only.check_flags()) == (Room(), 0.0, ("--target", "small"))


@pytest.mark.parametrize(
    "within", ["ram", "ram=", "ram=x", "stack=3", "ram=1,ram=2", "ms=soon", "ms=-1", "ms=nan", ","]
)
def test_room_that_cannot_be_read_is_refused(within: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        place(within=within, target="small", clock="1MHz")
    assert (caught.value.code, caught.value.exit_code) == ("TW1419", 2)


@pytest.mark.parametrize("drop", ["1", "-1%", "101%", "some"])
def test_a_drop_is_a_percentage(drop: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        place(drop=drop, target="small")
    assert (caught.value.code, caught.value.exit_code) == ("TW1419", 2)


@pytest.mark.parametrize("flags", [{"within": "ram=1K"}, {"within": "ms=1", "target": "small"}, {"drop": "1%"}])
def test_what_is_missing_is_named(flags: dict[str, str]) -> None:
    with pytest.raises(TilewrightError) as caught:
        place(**flags)
    assert (caught.value.code, caught.value.exit_code) == ("TW1418", 2)
    assert caught.value.fix


def test_mixed_bits_for_nothing_name_the_flag() -> None:
    assert "--weights mixed chooses" in demand_place("int8", "mixed").message
    assert "--activations mixed --weights mixed chooses" in demand_place("mixed", "mixed").message


def test_a_network_is_planned_once_and_again_for_the_memory_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def estimate(model: Path, target: str, **keywords: Any) -> Estimate:
        asked.append(keywords)
        ram = keywords.get("memory", {}).get("sram", 3000)
        return Estimate(used_bytes={}, ram_bytes=ram, flash_bytes=7, cycles=9)

    monkeypatch.setattr("tilewright.exploration.estimate.estimate", estimate)
    found = place(within="ram=2K", target="small")
    assert found is not None
    plans = Plans(place=found, file_of=lambda bits: Path("net.onnx"))
    assert [plans.taken(Bits()).ram for _ in range(2)] == [2048, 2048]
    assert asked == [{}, {"memory": {"sram": 2048}}]


def test_what_fits_in_no_way_takes_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimate(model: Path, target: str, **keywords: Any) -> Estimate:
        if "memory" in keywords:
            return Estimate(used_bytes={}, code="TW5001", reason="too small")
        return Estimate(used_bytes={}, ram_bytes=3000)

    monkeypatch.setattr("tilewright.exploration.estimate.estimate", estimate)
    found = place(within="ram=2K", target="small")
    assert found is not None
    taken = Plans(place=found, file_of=lambda bits: Path("net.onnx")).taken(Bits())
    assert (taken.ram, taken.reason) == (3000, "")
