"""Knows files of a family: TOML with its parts, the boards that have one of them, and the sources of every number.
Does not know any part or board. `docs/howto/boards.md` describes the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from tilewright.config.boards import SECTION, clock_of, memories_of, memory_tables
from tilewright.config.toml_table import TomlTable, toml_values
from tilewright.config.wait_state_tables import flash_waits_of
from tilewright.ir.machines.board import Board
from tilewright.ir.machines.flash_waits import FlashWaits
from tilewright.ir.machines.platform import Memory

_TOP = ("family", "source", "wait_states", "part", "board")
_SOURCE = ("repository", "licence")
_PART = ("name", "core", "target", "clock", "memory", "sources")
_BOARD = ("name", "title", "part", "clock", "memory", "tools", "sections", "sources")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def read_board_family(content: bytes, source: str) -> tuple[Board, ...]:
    """The parts of a file, then its boards; `source` is how messages call it.

    TilewrightError (exit 2): TW1401 no TOML; TW1402 for a key that there is not, a name that is there twice, a part
    that is not there, or a number without a file that it is from.
    """
    top = TomlTable(source, "", toml_values(content, source))
    top.only(_TOP)
    family, known = top.text("family", ""), _sources(top)
    tables = _named(top, "part")
    waits = _flash_waits(top, known, tuple(tables))
    parts = {name: _part(table, known, family, waits.get(name)) for name, table in tables.items()}
    boards = [_board(table, known, parts) for table in _named(top, "board").values()]
    names = [*parts, *(board.name for board in boards)]
    for name in names:
        if names.count(name) > 1:
            raise top.wrong(f"board '{name}'", "a part has this name, too")
    return (*(board for board, _ in parts.values()), *boards)


Part = tuple[Board, list[dict[str, Any]]]  # with the tables of its memories, of which a board may change some keys
Waits = tuple[FlashWaits, dict[str, str]]  # and the files that they are from


def _sources(top: TomlTable) -> frozenset[str]:
    """Names of the places that files are from, each with its licence."""
    tables = top.values.get("source", {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise top.wrong("key 'source'", "write each place that files are from as a table [source.NAME]")
    for name, values in tables.items():
        table = top.inner(f"source '{name}',", values)
        table.only(_SOURCE)
        for key in _SOURCE:
            if not table.text(key, ""):
                raise table.wrong(f"key '{key}'", "a text is needed")
    return frozenset(tables)


def _named(top: TomlTable, kind: str) -> dict[str, TomlTable]:
    """The tables `[[part]]` or `[[board]]`, by their names."""
    tables = top.values.get(kind, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise top.wrong(f"key '{kind}'", f"write each as a table [[{kind}]]")
    result: dict[str, TomlTable] = {}
    for index, values in enumerate(tables):
        name = values.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            at = top.inner(f"{kind} number {index + 1},", values)
            raise at.wrong("key 'name'", "a name of small letters and digits is needed, with single dashes")
        if name in result:
            raise top.wrong(f"{kind} '{name}'", "this name is there twice")
        result[name] = top.inner(f"{kind} '{name}',", values)
    return result


def _flash_waits(top: TomlTable, known: frozenset[str], parts: tuple[str, ...]) -> dict[str, Waits]:
    """How long the flash of each part waits, by its name; parts of which that is not known are absent."""
    tables = top.values.get("wait_states", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise top.wrong("key 'wait_states'", "write each as a table [[wait_states]]")
    result: dict[str, Waits] = {}
    for index, values in enumerate(tables):
        table = top.inner(f"wait_states number {index + 1},", values)
        waits, files = flash_waits_of(table), _from_files(table, known, ("wait_states",))
        for pattern in table.list_of_texts("parts"):
            named = [part for part in parts if fnmatchcase(part, pattern)]
            twice = [part for part in named if part in result]
            if not named or twice:
                reason = f"it has another table already: '{twice[0]}'" if twice else f"no part is like '{pattern}'"
                raise table.wrong("key 'parts'", reason)
            result |= dict.fromkeys(named, (waits, {word.replace("_", " "): file for word, file in files.items()}))
    return result


def _part(table: TomlTable, known: frozenset[str], family: str, waits: Waits | None) -> Part:
    table.only(_PART)
    tables = memory_tables(table)
    memories = memories_of(table, tables)
    if not memories:
        raise table.wrong("key 'memory'", "a part has at least one memory")
    target = table.text("target", "")
    if not target:
        raise table.wrong("key 'target'", "the target that it is compiled for is needed")
    sources = _from_files(table, known, ("memory", *(("clock",) if "clock" in table.values else ())))
    name, core = table.text("name", ""), table.text("core", "")
    part = Board(
        source=name,
        name=name,
        title=family,
        part=name,
        core=core,
        target=target,
        clock_hz=clock_of(table),
        memories=_real(memories),
        flash_waits=waits[0] if waits else None,
        sources=sources | waits[1] if waits else sources,
    )
    return _allowed(table, part), tables


def _board(table: TomlTable, known: frozenset[str], parts: Mapping[str, Part]) -> Board:
    table.only(_BOARD)
    named = table.text("part", "")
    if named not in parts:
        raise table.wrong("key 'part'", f"the file has no part '{named}'")
    part, tables = parts[named]
    changed = {changes.get("name"): changes for changes in memory_tables(table)}
    merged = [{**own, **changed.pop(own["name"], {})} for own in tables]
    clock, needed = clock_of(table), ("board", *(("sections",) if "sections" in table.values else ()))
    board = replace(
        part,
        source=table.text("name", ""),
        name=table.text("name", ""),
        title=table.text("title", ""),
        clock_hz=part.clock_hz if clock is None else clock,
        memories=_real(memories_of(table, [*merged, *changed.values()])),
        sources={**part.sources, **_from_files(table, known, needed)},
        tools=dict(table.texts("tools")),
    )
    return _allowed(table, replace(board, sections=_sections(table, board)))


def _sections(table: TomlTable, board: Board) -> dict[str, dict[str, str]]:
    """What linker scripts of tools that know the board call the sections of its memories."""
    tools = table.values.get("sections", {})
    if not isinstance(tools, dict) or not all(isinstance(named, dict) for named in tools.values()):
        raise table.wrong("key 'sections'", "write those of each tool as a table [board.sections.TOOL]")
    for tool, named in tools.items():
        inner = table.inner(f"sections of '{tool}',", named)
        if tool not in board.tools:
            raise table.wrong("key 'sections'", f"'tools' does not say what '{tool}' calls the board")
        inner.only(tuple(memory.name for memory in board.memories))
        for name, section in named.items():
            if not isinstance(section, str) or not SECTION.fullmatch(section):
                raise inner.wrong(f"key '{name}'", "letters, digits, '.', '_' and '$' make a section name")
    return {tool: dict(named) for tool, named in tools.items()}


def _allowed(table: TomlTable, board: Board) -> Board:
    """The same; its clock is none that its flash cannot follow."""
    if board.flash_waits and board.clock_hz and board.flash_waits.at(board.clock_hz) is None:
        raise table.wrong("key 'clock'", "it is higher than what [[wait_states]] says of the flash")
    return board


def _real(memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """More than these have is not there, whatever limit is asked for."""
    return tuple(replace(memory, machine_bytes=memory.size_bytes) for memory in memories)


def _from_files(table: TomlTable, known: frozenset[str], needed: tuple[str, ...]) -> dict[str, str]:
    """What is known, and the file that it is from: `SOURCE:PATH`, SOURCE one of the file's."""
    values = table.values.get("sources", {})
    if not isinstance(values, dict):
        raise table.wrong("key 'sources'", "a table is needed: what is known, and the file that it is from")
    for word in needed:
        if word not in values:
            raise table.wrong("key 'sources'", f"it does not say which file '{word}' is from")
    for word, wrong in _unknown(values, known):
        raise table.wrong(
            f"key 'sources', '{word}'", f"'{wrong}' is not SOURCE:PATH with a [source.SOURCE] of this file"
        )
    return values


def _unknown(values: Mapping[str, Any], known: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for word, text in values.items():
        name, colon, path = text.partition(":") if isinstance(text, str) else ("", "", "")
        if name not in known or not colon or not path:
            yield word, text
