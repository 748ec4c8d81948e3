"""The families as they are shipped: every number from a file, sizes that names of parts say as well, nothing twice."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

import tilewright_boards
from tilewright.api.platform import Board

FOLDER = files("tilewright_boards") / "families"
FILES = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".toml"))
BOARDS = tilewright_boards.tilewright_boards()
PARTS = [board for board in BOARDS if board.name == board.part]
FREE = {"Apache-2.0", "BSD-3-Clause", "LGPL-2.1-only", "MIT OR Apache-2.0"}  # facts alone are taken
FLASH = {  # what the eleventh character of an STM32's name says, in KiB
    "4": 16,
    "6": 32,
    "8": 64,
    "b": 128,
    "z": 192,
    "c": 256,
    "d": 384,
    "e": 512,
    "g": 1024,
    "h": 1536,
    "i": 2048,
    "j": 4096,
}
CORES = {
    "cortex-m0plus": {"Cortex-M0", "Cortex-M0+"},
    "cortex-m3": {"Cortex-M3"},
    "cortex-m4": {"Cortex-M4"},
    "cortex-m7": {"Cortex-M7"},
    "cortex-m33": {"Cortex-M33"},
    "cortex-m55": {"Cortex-M55", "Cortex-M85"},  # what is compiled for the one runs on the other
    "generic": {"Xtensa LX6", "Xtensa LX7", "RISC-V"},
}


def values(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))


def bytes_of(board: Board, kind: str) -> list[int | None]:
    return [memory.size_bytes for memory in board.memories if memory.kind == kind]


def test_there_are_many() -> None:
    assert len(PARTS) >= 200 and len(BOARDS) - len(PARTS) >= 270 and len(FILES) >= 30


def test_no_name_is_there_twice() -> None:
    assert [name for name, times in Counter(board.name for board in BOARDS).items() if times > 1] == []


@pytest.mark.parametrize("name", FILES)
def test_sources_are_free_and_each_is_used(name: str) -> None:
    found = values(name)
    assert {source["licence"] for source in found["source"].values()} <= FREE
    assert all(source["repository"].startswith("https://") for source in found["source"].values())
    tables = (*found["part"], *found.get("board", ()), *found.get("wait_states", ()))
    used = {file.partition(":")[0] for table in tables for file in table["sources"].values()}
    assert used == set(found["source"])


@pytest.mark.parametrize("target", CORES)
def test_parts_are_compiled_for_their_cores(target: str) -> None:
    assert {part.core for part in PARTS if part.target == target} == CORES[target]


def test_there_is_no_other_target() -> None:
    assert {part.target for part in PARTS} == set(CORES)


def test_the_first_memory_is_called_ram_and_is_the_largest() -> None:
    for part in PARTS:
        first, *others = [memory for memory in part.memories if memory.kind == "ram"]
        assert first.name == "ram", part.name
        assert all((first.size_bytes or 0) >= (other.size_bytes or 0) for other in others), part.name


def test_caches_of_the_larger_cores_find_whole_lines() -> None:
    for part in PARTS:
        least = 32 if part.target in ("cortex-m7", "cortex-m55") else 16
        assert all(memory.align >= least for memory in part.memories if memory.kind == "ram"), part.name


def test_flash_is_what_the_name_of_an_stm32_says() -> None:
    parts = [part for part in PARTS if re.fullmatch(r"stm32(?!n6)\w{4}..", part.name) and bytes_of(part, "const")]
    assert len(parts) > 120
    said = {part.name: FLASH[part.name[10]] << 10 for part in parts}
    assert {part.name: sum(size or 0 for size in bytes_of(part, "const")) for part in parts} == said


def test_wait_states_are_known_of_every_stm32_with_flash_of_its_own_but_two_families() -> None:
    without = {part.name for part in PARTS if part.name.startswith("stm32") and part.flash_waits is None}
    assert {name[:7] for name in without} == {"stm32h7", "stm32n6"}
    assert all(name.startswith(("stm32h7s", "stm32n6")) for name in without)  # H7RS runs its code from outside
    assert all(board.flash_waits is None for board in BOARDS if not board.part.startswith("stm32"))


@pytest.mark.parametrize(
    ("name", "clock_hz", "waits"),
    [
        ("nucleo-f446re", 180_000_000, 5),
        ("stm32f100rb", 24_000_000, 0),
        ("stm32f103rb", 72_000_000, 2),
        ("stm32f411re", 100_000_000, 3),
        ("stm32f767zi", 216_000_000, 7),
        ("stm32g474re", 170_000_000, 4),
        ("stm32h723zg", 550_000_000, 3),
        ("stm32h743zi", 480_000_000, 4),
        ("stm32l476rg", 80_000_000, 4),
        ("stm32l4r5zi", 120_000_000, 5),
        ("stm32l4s5vi", 80_000_000, 3),
        ("stm32u575zi", 160_000_000, 4),
    ],
)
def test_wait_states_of_some_that_people_know(name: str, clock_hz: int, waits: int) -> None:
    (board,) = (one for one in BOARDS if one.name == name)
    assert board.flash_waits is not None and board.flash_waits.at(clock_hz) == waits
    assert "wait states" in board.sources


def test_boards_have_no_more_than_their_parts() -> None:
    parts = {part.name: part for part in PARTS}
    for board in BOARDS:
        own = {memory.name: memory.size_bytes for memory in parts[board.part].memories}
        for memory in board.memories:
            if (limit := own.get(memory.name)) is not None:
                assert memory.size_bytes is not None and memory.size_bytes <= limit, (board.name, memory.name)


def test_clocks_are_clocks_of_such_parts() -> None:
    clocks = [board.clock_hz for board in BOARDS if board.clock_hz is not None]
    assert min(clocks) >= 8_000_000 and max(clocks) <= 1_000_000_000
    assert all("clock" in board.sources for board in PARTS if board.clock_hz is not None)


@pytest.mark.parametrize(
    ("name", "clock_hz", "sizes"),
    [
        ("nucleo-f446re", 180_000_000, {"ram": 128 << 10, "flash": 512 << 10}),
        ("stm32f407vg", 168_000_000, {"ram": 128 << 10, "ccm": 64 << 10, "flash": 1 << 20}),
        (
            "stm32h743vi",
            480_000_000,
            {"ram": 512 << 10, "dtcm": 128 << 10, "sram1": 288 << 10, "sram4": 64 << 10, "flash": 2 << 20},
        ),
        ("nrf52840", 64_000_000, {"ram": 256 << 10, "flash": 1 << 20}),
        ("pico-2", 150_000_000, {"ram": 512 << 10, "flash": 4 << 20}),
        ("gap9", None, {"ram": 1472 << 10}),
        ("max32690", 120_000_000, {"ram": 896 << 10, "flash": 3 << 20}),
    ],
)
def test_some_that_people_know(name: str, clock_hz: int | None, sizes: dict[str, int]) -> None:
    (board,) = (one for one in BOARDS if one.name == name)
    assert (board.clock_hz, {memory.name: memory.size_bytes for memory in board.memories}) == (clock_hz, sizes)


def test_boards_are_called_by_names_that_their_tools_take() -> None:
    tools = {"arduino", "esp-idf", "pico-sdk", "platformio", "platformio-platform", "platformio-frameworks", "zephyr"}
    boards = [board for board in BOARDS if board.tools]
    assert {tool for board in boards for tool in board.tools} == tools
    for board in boards:
        assert ("platformio-platform" in board.tools) <= ("platformio" in board.tools)
        assert all(tool in board.sources for tool in ("arduino", "pico-sdk") if tool in board.tools), board.name
        assert board.tools.get("arduino", ":::").count(":") == 3
