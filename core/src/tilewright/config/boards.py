"""Knows board files: TOML that says which memories a board has, for a target that somebody offers.
Does not know any board or target. `docs/howto/boards.md` describes the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from tilewright.config.clock import parse_clock
from tilewright.config.memory_pools import overlap
from tilewright.errors import TilewrightError, typed, usage_error
from tilewright.ir.machines.platform import Memory, Platform

UNITS = {"": 1, "K": 1 << 10, "KIB": 1 << 10, "M": 1 << 20, "MIB": 1 << 20}
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
_FORM = typed("tilewright", "explain", "TW1402", gives="lists every key, with an example")
SECTION = re.compile(r"[A-Za-z0-9_.$]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Memories that replace a target's own, and what a compilation starts from. `target` "" is for any target."""

    source: str  # the file, for messages
    target: str = ""
    clock_hz: int | None = None  # None: the file does not say
    settings: Mapping[str, str] = field(default_factory=dict)
    memories: tuple[Memory, ...] = ()
    pins: tuple[tuple[str, str], ...] = ()  # pattern of tensors or layers -> memory; later ones overrule
    constant_copies: tuple[tuple[str, str], ...] = ()  # pattern of constants -> POOL[,when=init|use]

    def on(self, platform: Platform) -> Platform:
        """`platform` with these memories. TilewrightError TW1403 (exit 2) when they are not for it."""
        if self.target and not platform.runs(self.target):
            raise _not_for_target(
                self.source, platform.name, f"it is for target '{self.target}', not '{platform.name}'"
            )
        if not self.memories:
            return platform
        names = {memory.name for memory in self.memories}
        needed = sorted({end for path in platform.copies for end in (path.source, path.target)} - names)
        if needed:
            raise _not_for_target(
                self.source,
                platform.name,
                f"target '{platform.name}' copies from or to {', '.join(needed)}: not described",
            )
        engines = {engine.name for engine in platform.engines}
        for memory in self.memories:
            for engine in memory.access:
                if engine not in engines:
                    known = ", ".join(sorted(engines))
                    raise _not_for_target(
                        self.source,
                        platform.name,
                        f"memory '{memory.name}' names engine '{engine}'; '{platform.name}' has {known}",
                    )
        return replace(platform, memories=self.memories)


@dataclass(frozen=True, slots=True)
class _Table:
    """One table of the file, and where it is."""

    source: str
    place: str
    values: Mapping[str, Any]

    def wrong(self, key: str, reason: str) -> TilewrightError:
        where = f"{self.source}, {self.place} {key}"
        return usage_error("TW1402", f"the board file is wrong: {reason}", where=where, fix=(_FORM,))

    def only(self, known: tuple[str, ...]) -> None:
        for key in self.values:
            if key not in known:
                raise self.wrong(f"key '{key}'", f"there is no such key; there are {', '.join(known)}")

    def text(self, key: str, default: str, choices: tuple[str, ...] = ()) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(f"key '{key}'", "a text is needed")
        if choices and value not in choices:
            raise self.wrong(f"key '{key}'", f"'{value}' is not one of {', '.join(choices)}")
        return value

    def number(self, key: str, default: float, *, least: float = 0.0) -> float:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < float("inf"):
            raise self.wrong(f"key '{key}'", f"a number, {least:g} or more, is needed")
        return float(value)

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(f"key '{key}'", "true or false is needed")
        return value

    def texts(self, key: str) -> tuple[tuple[str, str], ...]:
        """A table of names and texts, in the file's order."""
        values = self.values.get(key, {})
        if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
            raise self.wrong(f"key '{key}'", "a table of patterns and memories is needed")
        return tuple(values.items())

    def size(self, key: str) -> int | None:
        """65536, "64K" or "1M"; None where there is no such key."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        match = re.fullmatch(r"(\d+)\s*([A-Za-z]*)", value.strip()) if isinstance(value, str) else None
        if not match or match[2].upper() not in UNITS:
            raise self.wrong(f"key '{key}'", 'a size is needed: 65536, "64K" or "1M"')
        return int(match[1]) * UNITS[match[2].upper()]


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
    import tomllib

    try:
        values = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise usage_error("TW1401", f"the board file is no TOML: {error}", where=source, fix=(_FORM,)) from None
    top = _Table(source, "at the top,", values)
    top.only(TOP)
    tables = values.get("memory", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise top.wrong("key 'memory'", "write each memory as a table [[memory]]")
    memories = tuple(_memory(source, index, table) for index, table in enumerate(tables))
    names = [memory.name for memory in memories]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise top.wrong("key 'memory'", f"two memories are called '{repeated[0]}'")
    if memories and all(memory.kind == "const" for memory in memories):
        raise top.wrong("key 'memory'", 'none of them can be written; one needs kind = "ram"')
    if fault := overlap(memories):
        raise top.wrong("key 'memory'", fault)
    return Board(
        source=source,
        target=top.text("target", ""),
        clock_hz=_clock(top),
        settings=_settings(top),
        memories=memories,
        pins=top.texts("pin"),
        constant_copies=top.texts("stage"),
    )


def _settings(top: _Table) -> Mapping[str, str]:
    values = top.values.get("settings", {})
    if not isinstance(values, dict) or not all(isinstance(value, (str, int)) for value in values.values()):
        raise top.wrong("key 'settings'", "a table of names and texts is needed")
    return {name: str(value) for name, value in values.items()}


def _clock(top: _Table) -> int | None:
    value = top.values.get("clock")
    if value is None:
        return None
    try:
        return parse_clock(str(value))
    except TilewrightError:
        raise top.wrong("key 'clock'", 'a frequency is needed: 80000000 or "80MHz"') from None


def _memory(source: str, index: int, values: Mapping[str, Any]) -> Memory:
    name = values.get("name")
    table = _Table(source, f"memory '{name}'," if isinstance(name, str) else f"memory number {index + 1},", values)
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


def _access(table: _Table) -> Mapping[str, Literal["rw", "ro", "none"]]:
    values = table.values.get("access", {})
    if not isinstance(values, dict) or not all(value in ("rw", "ro", "none") for value in values.values()):
        raise table.wrong("key 'access'", 'a table of engines is needed, each "rw", "ro" or "none"')
    return dict(values)


def _not_for_target(source: str, target: str, reason: str) -> TilewrightError:
    return usage_error(
        "TW1403",
        f"the board does not fit the target: {reason}",
        where=source,
        fix=(typed("tilewright", "targets", target, gives="shows what it has"),),
    )
