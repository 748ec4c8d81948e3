"""`tilewright boards`: a list, those of a pattern, and one with the files that its numbers are from."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tilewright.front_door import board_choice
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.flash_waits import FlashWaits
from tilewright.ir.machines.platform import Memory

RAM = Memory(name="ram", size_bytes=4096, base=0x20000000)
CHIP = Board(
    source="chip1",
    name="chip1",
    part="chip1",
    title="Chips",
    core="Core-1",
    target="t",
    clock_hz=8_000_000,
    memories=(RAM, Memory(name="flash", size_bytes=None, kind="const", section=".f")),
    sources={"memory": "sdk:chip1.ld"},
)
KIT = Board(
    source="kit",
    name="kit",
    part="chip1",
    title="The kit",
    core="Core-1",
    memories=(RAM,),
    tools={"zephyr": "the_kit"},
    sections={"zephyr": {"ram": ".dtcm_noinit"}},
)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_choice, "installed_boards", lambda: {"chip1": CHIP, "kit": KIT})


def test_all_of_them_parts_first(run: Any) -> None:
    said = run("boards")
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[1:] == [
        ["chip1", "Core-1", "t", "8", "MHz", "4,096"],
        ["kit", "chip1", "Core-1", "4,096", "The", "kit"],
    ]


def test_those_of_a_pattern(run: Any) -> None:
    assert [row["name"] for row in json.loads(run("boards", "ki*", "--json", "-").out)] == ["kit"]
    said = run("boards", "avr")
    assert said.code == 8 and "error[TW8001]: no board or part that is installed is called like 'avr'" in said.err
    assert "tilewright boards chip" in run("boards", "chap").err


def test_one_has_its_memories_and_where_they_are_known_from(run: Any) -> None:
    said = run("boards", "CHIP1").out
    assert said.startswith("chip1: Chips; Core-1, 8 MHz; target t\n")
    assert "  ram     ram     4,096 B  0x20000000" in said
    assert "  flash   const  no limit              .f" in said
    assert "  memory from sdk:chip1.ld" in said
    assert "flash:" not in said  # nothing is known of its wait states
    kit = run("boards", "kit").out
    assert "part chip1; Core-1, clock not known" in kit and "zephyr calls it the_kit" in kit
    assert "  sections of zephyr: ram in .dtcm_noinit\n" in kit
    (facts,) = json.loads(run("boards", "chip1", "--json", "-").out)
    assert (facts["clock_hz"], facts["memories"][0]["base"], facts["sources"]) == (
        8_000_000,
        0x20000000,
        {"memory": "sdk:chip1.ld"},
    )


@pytest.mark.parametrize(
    ("clock_hz", "divider", "line"),
    [
        (80_000_000, 1, "  flash: 2 wait states at 80 MHz (3.3 V)\n"),
        (80_000_000, 2, "  flash: 1 wait state of its bus at 40 MHz (3.3 V)\n"),
        (None, 1, "  flash: up to 2 wait states, by the clock (3.3 V)\n"),
    ],
)
def test_one_has_the_wait_states_of_its_flash(
    run: Any, monkeypatch: pytest.MonkeyPatch, clock_hz: int | None, divider: int, line: str
) -> None:
    waits = FlashWaits(up_to_hz=(30_000_000, 60_000_000, 90_000_000), condition="3.3 V", divider=divider)
    chip = replace(CHIP, clock_hz=clock_hz, flash_waits=waits)
    monkeypatch.setattr(board_choice, "installed_boards", lambda: {"chip1": chip})
    assert line in run("boards", "chip1").out
    (facts,) = json.loads(run("boards", "chip1", "--json", "-").out)
    assert facts["flash_waits"] == {
        "up_to_hz": [30_000_000, 60_000_000, 90_000_000],
        "condition": "3.3 V",
        "divider": divider,
        "width_bits": None,
    }


def test_where_there_is_none_it_is_said_what_to_install(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(board_choice, "installed_boards", dict)
    said = run("boards")
    assert said.code == 0 and "pip install tilewright-boards" in said.out
