"""Files of a family: parts, boards with them, and numbers that are not believed without a file that they are from."""

from __future__ import annotations

import pytest

from tilewright.config.board_families import read_board_family
from tilewright.errors import TilewrightError
from tilewright.ir.machines.flash_waits import FlashWaits

FAMILY = """
family = "Acme"

[source.sdk]
repository = "https://acme.example"
licence = "Apache-2.0"

[[wait_states]]
parts = ["a*"]
up_to = ["30MHz", "60MHz", "96MHz"]
condition = "3.3 V"
sources = { wait_states = "sdk:flash.h" }

[[part]]
name = "a1"
core = "Cortex-M4"
target = "cortex-m4"
clock = "96MHz"
memory = [
    { name = "ram", size = "64K", base = 0x20000000 },
    { name = "flash", kind = "const", size = "512K", base = 0x08000000 },
]
sources = { memory = "sdk:a1.ld", clock = "sdk:clocks.h" }

[[board]]
name = "one"
title = "Acme One"
part = "a1"
memory = [{ name = "flash", size = "480K" }, { name = "qspi", kind = "const", size = "8M" }]
tools = { zephyr = "acme_one" }
sections = { zephyr = { ram = ".fast_noinit" } }
sources = { board = "sdk:one.md", sections = "sdk:one.ld" }

[[board]]
name = "slow-one"
part = "a1"
clock = "8MHz"
sources = { board = "sdk:one.md" }
"""


def test_parts_come_first_and_boards_are_these_with_changes() -> None:
    part, one, slow = read_board_family(FAMILY.encode(), "acme.toml")
    assert (part.name, part.part, part.title, part.core, part.target) == ("a1", "a1", "Acme", "Cortex-M4", "cortex-m4")
    assert (part.clock_hz, one.clock_hz, slow.clock_hz) == (96_000_000, 96_000_000, 8_000_000)
    assert (one.name, one.part, one.title, one.core, one.tools) == (
        "one",
        "a1",
        "Acme One",
        "Cortex-M4",
        {"zephyr": "acme_one"},
    )
    assert [(memory.name, memory.size_bytes, memory.base) for memory in one.memories] == [
        ("ram", 64 << 10, 0x20000000),
        ("flash", 480 << 10, 0x08000000),
        ("qspi", 8 << 20, None),
    ]
    assert slow.memories == part.memories
    assert one.sources == {
        "memory": "sdk:a1.ld",
        "clock": "sdk:clocks.h",
        "wait states": "sdk:flash.h",
        "board": "sdk:one.md",
        "sections": "sdk:one.ld",
    }
    assert (one.sections, slow.sections) == ({"zephyr": {"ram": ".fast_noinit"}}, {})


def test_flash_waits_as_long_as_its_table_says() -> None:
    part, one, slow = read_board_family(FAMILY.encode(), "acme.toml")
    assert part.flash_waits == FlashWaits(up_to_hz=(30_000_000, 60_000_000, 96_000_000), condition="3.3 V")
    assert one.flash_waits == slow.flash_waits == part.flash_waits
    others = read_board_family(FAMILY.replace('["a*"]', '["a1"]').replace('"a1"', '"b1"').encode(), "b.toml")
    assert others[0].flash_waits == part.flash_waits
    start, end = FAMILY.index("[[wait_states]]"), FAMILY.index("[[part]]")
    (without, *_) = read_board_family((FAMILY[:start] + FAMILY[end:]).encode(), "acme.toml")
    assert without.flash_waits is None and "wait states" not in without.sources


def test_no_part_has_two_tables_of_wait_states() -> None:
    start, end = FAMILY.index("[[wait_states]]"), FAMILY.index("[[part]]")
    with pytest.raises(TilewrightError, match="another table already: 'a1'") as caught:
        read_board_family((FAMILY[:end] + FAMILY[start:]).encode(), "acme.toml")
    assert "wait_states number 2, key 'parts'" in caught.value.where


def test_a_limit_beyond_a_part_is_beyond_the_machine() -> None:
    part, one, _ = read_board_family(FAMILY.encode(), "acme.toml")
    assert [memory.machine_bytes for memory in (*part.memories, *one.memories)] == [
        *(64 << 10, 512 << 10),
        *(64 << 10, 480 << 10, 8 << 20),
    ]


@pytest.mark.parametrize(
    ("old", "new", "where", "says"),
    [
        ('parts = ["a*"]', 'parts = ["b*"]', "wait_states number 1, key 'parts'", "no part is like 'b"),
        ('parts = ["a*"]', "", "wait_states number 1, key 'parts'", "a list of texts"),
        ('wait_states = "sdk:flash.h"', "", "wait_states number 1, key 'sources'", "which file 'wait_states' is from"),
        ('clock = "96MHz"', 'clock = "97MHz"', "part 'a1', key 'clock'", "says of the flash"),
        ('clock = "8MHz"', 'clock = "97MHz"', "board 'slow-one', key 'clock'", "says of the flash"),
        ('family = "Acme"', 'colour = "red"', "at the top, key 'colour'", "no such key"),
        ('licence = "Apache-2.0"', "", "source 'sdk', key 'licence'", "a text is needed"),
        ('name = "a1"', 'name = "A1"', "part number 1, key 'name'", "small letters"),
        ('target = "cortex-m4"', "", "part 'a1', key 'target'", "the target"),
        ('clock = "96MHz"', 'clock = "fast"', "part 'a1', key 'clock'", "a frequency"),
        ('size = "64K"', 'size = "64KB"', "part 'a1', memory 'ram', key 'size'", "a size"),
        (', clock = "sdk:clocks.h"', "", "part 'a1', key 'sources'", "which file 'clock' is from"),
        ('"sdk:a1.ld"', '"web:a1.ld"', "part 'a1', key 'sources', 'memory'", "'web:a1.ld' is not SOURCE:PATH"),
        ('"sdk:a1.ld"', '"sdk:"', "part 'a1', key 'sources', 'memory'", "is not SOURCE:PATH"),
        ('part = "a1"', 'part = "a2"', "board 'one', key 'part'", "no part 'a2'"),
        ('sources = { board = "sdk:one.md" }', "", "board 'slow-one', key 'sources'", "which file 'board' is from"),
        (', sections = "sdk:one.ld"', "", "board 'one', key 'sources'", "which file 'sections' is from"),
        (
            "sections = { zephyr = {",
            "sections = { idf = {",
            "board 'one', key 'sections'",
            "what 'idf' calls the board",
        ),
        ('{ ram = ".fast_noinit" }', '".noinit"', "board 'one', key 'sections'", "of each tool as a table"),
        ("{ ram =", "{ dtcm =", "board 'one', sections of 'zephyr', key 'dtcm'", "no such key; there are ram"),
        ('".fast_noinit"', '"fast noinit"', "board 'one', sections of 'zephyr', key 'ram'", "make a section name"),
        ('name = "one"', 'name = "a1"', "at the top, board 'a1'", "a part has this name"),
        ('name = "slow-one"', 'name = "one"', "at the top, board 'one'", "twice"),
        ('name = "qspi"', 'name = "ram"', "board 'one', key 'memory'", "none of them can be written"),
    ],
)
def test_a_wrong_one_is_refused_with_its_place(old: str, new: str, where: str, says: str) -> None:
    assert old in FAMILY
    with pytest.raises(TilewrightError, match=says) as refused:
        read_board_family(FAMILY.replace(old, new, 1).encode(), "acme.toml")
    assert (refused.value.code, refused.value.where) == ("TW1402", f"acme.toml, {where}")
