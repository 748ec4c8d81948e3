"""Board files: what they may say, how they change a target, and how wrong ones are refused with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.config.boards import parse_board, read_board
from tilewright.errors import Exit, TilewrightError
from tilewright.errors.catalogue import catalogue
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, Option, Platform

WHOLE = b"""
name = "a board"
target = "toy-family"

[settings]
core = "big"

[[memory]]
name = "dtcm"
size = "128K"
reserved = "8K"
align = 32
base = 0x20000000
section = ".dtcm.tw"
access = { cpu = "rw" }
bytes_per_cycle = 8
latency_cycles = 1.5

[[memory]]
name = "flash"
kind = "const"
size = 1048576
"""

TOY = Platform(
    name="toy",
    family="toy-family",
    memories=(Memory(name="ram", size_bytes=1024),),
    engines=(Engine(name="cpu"),),
    options=(Option(name="core", help="", default="small", choices=("small", "big")),),
)


def board(text: str) -> Board:
    return parse_board(text.encode(), "my.toml")


def test_the_example_that_is_shown_for_its_error_is_read() -> None:
    found = board("\n".join(catalogue()["TW1402"].example))
    assert [(one.name, one.kind, one.size_bytes) for one in found.memories] == [
        ("ram", "ram", 65536),
        ("flash", "const", None),
    ]


def memory(text: str) -> str:
    return f'[[memory]]\nname = "ram"\n{text}\n'


def test_a_whole_file_is_read() -> None:
    found = parse_board(WHOLE, "my.toml")
    assert found.settings == {"core": "big"}
    assert found.memories == (
        Memory(
            name="dtcm",
            size_bytes=120 * 1024,
            align=32,
            base=0x20000000,
            section=".dtcm.tw",
            access={"cpu": "rw"},
            bytes_per_cycle=8.0,
            latency_cycles=1.5,
        ),
        Memory(name="flash", kind="const", size_bytes=1 << 20),
    )


def test_a_clock_is_a_number_or_a_text() -> None:
    assert [board(f"clock = {text}").clock_hz for text in ("80000000", '"80MHz"')] == [80_000_000] * 2
    assert board("").clock_hz is None
    with pytest.raises(TilewrightError, match="key 'clock'"):
        board('clock = "fast"')


def test_its_memories_replace_those_of_the_target() -> None:
    changed = parse_board(WHOLE, "my.toml").on(TOY)
    assert [item.name for item in changed.memories] == ["dtcm", "flash"]
    assert changed.engines == TOY.engines
    assert [item.name for item in TOY.memories] == ["ram", "rodata"]


def test_a_file_of_settings_alone_leaves_the_memories() -> None:
    assert board('[settings]\ncore = "big"').on(TOY).memories == TOY.memories


def test_a_board_without_constants_leaves_them_to_the_linker() -> None:
    assert [item.name for item in board(memory("size = 4096")).on(TOY).of_kind("const")] == ["rodata"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("memories = 1", "key 'memories'"),
        ("memory = 1", "key 'memory'"),
        ("[memory]", "key 'memory'"),
        ("settings = 1", "key 'settings'"),
        ("target = 1", "key 'target'"),
        ("[[memory]]\nsize = 1", "memory number 1, key 'name'"),
        ('[[memory]]\nname = "two words"', "key 'name'"),
        (memory('kind = "rom"'), "memory 'ram', key 'kind'"),
        (memory('size = "64 bananas"'), "memory 'ram', key 'size'"),
        (memory("size = -1"), "memory 'ram', key 'size'"),
        (memory("size = true"), "memory 'ram', key 'size'"),
        (memory('size = "1K"\nreserved = "2K"'), "memory 'ram', key 'reserved'"),
        (memory('reserved = "2K"'), "memory 'ram', key 'reserved'"),
        (memory("align = 3"), "memory 'ram', key 'align'"),
        (memory("align = 16\nbase = 8"), "memory 'ram', key 'base'"),
        (memory('section = "a b"'), "memory 'ram', key 'section'"),
        (memory('access = { cpu = "maybe" }'), "memory 'ram', key 'access'"),
        (memory("bytes_per_cycle = -1"), "memory 'ram', key 'bytes_per_cycle'"),
        (memory('latency_cycles = "slow"'), "memory 'ram', key 'latency_cycles'"),
        (memory("speed = 1"), "memory 'ram', key 'speed'"),
        (memory("") + memory(""), "two memories are called 'ram'"),
        (memory('kind = "const"'), "none of them can be written"),
        (
            '[[memory]]\nname = "a"\nbase = 0\nsize = 32\n[[memory]]\nname = "b"\nbase = 16\nsize = 16',
            "'a' and 'b' overlap from 0x10",
        ),
    ],
)
def test_a_wrong_entry_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        board(text)
    assert refused.value.code == "TW1402"
    assert refused.value.exit_code is Exit.USAGE
    assert "my.toml" in str(refused.value)
    assert place in str(refused.value)


@pytest.mark.parametrize("content", [b"name = ", b"\xff\xfe", b"[[memory]\n"])
def test_what_is_no_toml_is_refused(content: bytes) -> None:
    with pytest.raises(TilewrightError) as refused:
        parse_board(content, "my.toml")
    assert refused.value.code == "TW1401"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError) as refused:
        read_board(tmp_path / "none.toml")
    assert refused.value.code == "TW1401"
    assert "none.toml" in str(refused.value)


def test_a_board_for_another_target_is_refused() -> None:
    with pytest.raises(TilewrightError, match="for target 'other'") as refused:
        board('target = "other"').on(TOY)
    assert refused.value.code == "TW1403"


def test_a_memory_that_the_target_copies_from_must_be_there() -> None:
    clustered = Platform(
        name="cluster",
        memories=(Memory(name="l2", size_bytes=1), Memory(name="l1", size_bytes=1)),
        copies=(CopyPath(source="l2", target="l1", start=""),),
    )
    with pytest.raises(TilewrightError, match="copies from or to l1, l2"):
        board(memory("size = 64")).on(clustered)


def test_an_engine_that_the_target_does_not_have_is_refused() -> None:
    with pytest.raises(TilewrightError, match="engine 'npu'"):
        board(memory('access = { npu = "ro" }')).on(TOY)
