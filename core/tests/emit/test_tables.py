"""The list of buffers: memory by memory, in the order of their bytes, and when each is alive."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from tilewright.emit.tables import memory_map, name_table
from tilewright.ir.programs.program import NamesInFull

LINE = re.compile(r"(\w+) = (\d+), /\* (\d+) bytes?(?:, steps? (\d+)(?: to (\d+))?)? \*/")


def test_every_buffer_once_in_order(toy: Any) -> None:
    program = toy.program(toy.graph())
    plan = program.allocated
    lines = list(memory_map(program))
    titles = [number for number, line in enumerate(lines) if line.startswith("/* ")]
    assert {lines[number] for number in titles} == {"/* ram */", "/* flash */"}
    found = {match[1]: match for line in lines if (match := LINE.fullmatch(line))}
    assert len(found) == len(lines) - len(titles) == len(program.offsets)
    for buffer in plan.tiled.buffers:
        match = found[program.offsets[buffer.name]]
        assert (int(match[2]), int(match[3])) == (plan.placements[buffer.name].offset_bytes, buffer.size_bytes)
        life = (None, None) if buffer.kind == "constant" else (str(buffer.first), str(buffer.last))
        assert (match[4], match[5] or match[4]) == life
    for start, end in zip(titles, [*titles[1:], len(lines)], strict=True):
        offsets = [int(line.split(" = ")[1].partition(",")[0]) for line in lines[start + 1 : end]]
        assert offsets == sorted(offsets)


def test_one_byte_and_a_memory_with_an_odd_name(toy: Any) -> None:
    program = toy.program(toy.graph(length=1))
    plan = program.allocated
    placements = {name: replace(place, memory="*/ram") for name, place in plan.placements.items()}
    lines = list(memory_map(replace(program, allocated=replace(plan, placements=placements))))
    assert not any("*/ram" in line for line in lines)
    assert any("/* 1 byte, step" in line for line in lines)


def test_without_names_there_is_no_table() -> None:
    assert name_table(()) == ""


def test_names_stand_below_what_comments_say() -> None:
    text = name_table(
        (NamesInFull(of="act", names=("model/act/Relu;model/bias",)), NamesInFull(of="step 0", names=("a", "b")))
    )
    assert text.startswith("/* Names") and text.endswith(" */")
    assert text.split("\n")[3:-1] == [" * act", " *     model/act/Relu;model/bias", " * step 0", " *     a", " *     b"]


@pytest.mark.parametrize("name", ["level/" * 60, "x" * 500, "part;" * 90, "a/" + "b" * 200])
def test_long_names_are_broken_and_nothing_is_lost(name: str) -> None:
    lines = name_table((NamesInFull(of="act", names=(name,)),)).split("\n")
    assert all(len(line) <= 120 for line in lines)
    assert "".join(line.removeprefix(" *     ") for line in lines[4:-1]) == name
