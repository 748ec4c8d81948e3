"""Knows board files: TOML that says which memories a board has, for a target that somebody offers.
Does not know any board or target. `docs/howto/boards.md` describes the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from tilewright.config.clock import parse_clock
from tilewright.config.memory_pools import overlap
from tilewright.config.toml_table import TomlTable, toml_values
from tilewright.errors import TilewrightError, usage_error
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.platform import Memory

TOP = ("name", "target", "clock", "settings", "memory", "pin", "stage")
KEYS = (
    "name",
    "kind",
    "size",
    "reserved",
    "align",
    "base",
    "section",
    "access",
    "bytes_per_cycle",
    "latency_cycles",
    "soft",
)
_SLOWEST = 1e-6  # bytes per cycle: times are sizes divided by it
SECTION = re.compile(r"[A-Za-z0-9_.$]+")


def read_board(file: Path) -> Board:
    """The board that a file describes. TilewrightError (exit 2): TW1401 no file or no TOML, TW1402 a wrong entry."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise usage_error(
            "TW1401", f"cannot read the board file: {error.strerror}", where=str(file), fix=("check the path",)
        ) from None
    return parse_board(content, str(file))


def parse_board(content: bytes, source: str) -> Board:
    """The same for bytes; `source` is how messages call them."""
    values = toml_values(content, source)
    top = TomlTable(source, "", values)
    top.only(TOP)
    return Board(
        source=source,
        target=top.text("target", ""),
        clock_hz=clock_of(top),
        settings=_settings(top),
        memories=memories_of(top, memory_tables(top)),
        pins=top.texts("pin"),
        constant_copies=top.texts("stage"),
    )


def memory_tables(top: TomlTable) -> list[dict[str, Any]]:
    """The tables `[[memory]]`, as they are."""
    tables = top.values.get("memory", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise top.wrong("key 'memory'", "write each memory as a table [[memory]]")
    return tables


def memories_of(top: TomlTable, tables: Sequence[Mapping[str, Any]]) -> tuple[Memory, ...]:
    """The memories that these tables describe: names and addresses apart, one of them to be written."""
    memories = tuple(_memory(top, index, table) for index, table in enumerate(tables))
    names = [memory.name for memory in memories]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise top.wrong("key 'memory'", f"two memories are called '{repeated[0]}'")
    if memories and all(memory.kind == "const" for memory in memories):
        raise top.wrong("key 'memory'", 'none of them can be written; one needs kind = "ram"')
    if fault := overlap(memories):
        raise top.wrong("key 'memory'", fault)
    return memories


def clock_of(top: TomlTable) -> int | None:
    """The frequency in hertz; None where there is no key `clock`."""
    value = top.values.get("clock")
    if value is None:
        return None
    try:
        return parse_clock(str(value))
    except TilewrightError:
        raise top.wrong("key 'clock'", 'a frequency is needed: 80000000 or "80MHz"') from None


def _settings(top: TomlTable) -> Mapping[str, str]:
    values = top.values.get("settings", {})
    if not isinstance(values, dict) or not all(isinstance(value, (str, int)) for value in values.values()):
        raise top.wrong("key 'settings'", "a table of names and texts is needed")
    return {name: str(value) for name, value in values.items()}


def _memory(top: TomlTable, index: int, values: Mapping[str, Any]) -> Memory:
    name = values.get("name")
    table = top.inner(f"memory '{name}'," if isinstance(name, str) else f"memory number {index + 1},", values)
    table.only(KEYS)
    if not isinstance(name, str) or not (name.isascii() and name.isidentifier()):
        raise table.wrong("key 'name'", "a name is needed that C can use")
    size, reserved = table.size("size"), table.size("reserved") or 0
    if reserved and (size is None or reserved > size):
        raise table.wrong("key 'reserved'", "more is reserved than the memory has")
    align = table.values.get("align", 16)
    if not isinstance(align, int) or align < 4 or align & (align - 1):
        raise table.wrong("key 'align'", "a power of two, 4 or more, is needed")
    base = table.size("base")
    if base is not None and base % align:
        raise table.wrong("key 'base'", f"{base:#x} is not aligned to {align} bytes")
    section = table.text("section", "")
    if section and not SECTION.fullmatch(section):
        raise table.wrong("key 'section'", "letters, digits, '.', '_' and '$' make a section name")
    return Memory(
        name=name,
        kind=cast(Literal["ram", "const"], table.text("kind", "ram", ("ram", "const"))),
        size_bytes=None if size is None else size - reserved,
        align=align,
        base=base,
        section=section,
        access=_access(table),
        bytes_per_cycle=table.number("bytes_per_cycle", 4.0, least=_SLOWEST),
        latency_cycles=table.number("latency_cycles", 0.0),
        soft=table.flag("soft"),
    )


def _access(table: TomlTable) -> Mapping[str, Literal["rw", "ro", "none"]]:
    values = table.values.get("access", {})
    if not isinstance(values, dict) or not all(value in ("rw", "ro", "none") for value in values.values()):
        raise table.wrong("key 'access'", 'a table of engines is needed, each "rw", "ro" or "none"')
    return dict(values)
