"""Knows `tilewright boards`: the boards and parts that installed packages describe, and one of them in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from tilewright.cli.option import examples, option
from tilewright.cli.output import say, send_result
from tilewright.config.clock import clock_text
from tilewright.report.plain_text import Part, Table

if TYPE_CHECKING:
    from tilewright.ir.machines.board import Board


@click.command("boards", epilog=examples("boards", "boards 'nucleo-*'", "boards stm32f446re"))
@click.argument("pattern", required=False)
@option("--json", "json_target", metavar="FILE|-", help="Write the list as JSON.")
def command(pattern: str | None, json_target: str | None) -> None:
    """List boards and parts for --board, or those that are called like PATTERN; one by its name in detail."""
    from tilewright.front_door.board_choice import boards_called, installed_boards

    boards = installed_boards()
    if not boards:
        say("no board is installed\n  try:  pip install tilewright-boards")
        return
    exact = boards.get((pattern or "").casefold().replace("_", "-"))
    result = (exact,) if exact else boards_called(pattern or "*", boards)
    shown = (*_described(exact),) if exact else (_list(result),)
    send_result([_facts(board) for board in result], json_target, *shown)


def _list(boards: Sequence[Board]) -> Table:
    rows = [("name", "part", "core", "target", "clock", "RAM", "flash", "")]
    rows += [
        (
            board.name,
            board.part if board.part != board.name else "",
            board.core,
            board.target,
            clock_text(board.clock_hz) if board.clock_hz else "",
            _bytes(board, "ram"),
            _bytes(board, "const"),
            board.title if board.part != board.name else "",
        )
        for board in boards
    ]
    return Table(rows=rows, right=(5, 6))


def _bytes(board: Board, kind: str) -> str:
    sizes = [memory.size_bytes for memory in board.memories if memory.kind == kind]
    return f"{sum(size or 0 for size in sizes):,}" if sizes and None not in sizes else ""


def _described(board: Board) -> Iterator[Part]:
    """Everything that is known of one, and from where."""
    clock = f", {clock_text(board.clock_hz)}" if board.clock_hz else ", clock not known"
    on = f"; part {board.part}" if board.part != board.name else ""
    yield f"{board.name}: {board.title}{on}; {board.core}{clock}; target {board.target}"
    rows = [("memory", "kind", "size", "address", "section")]
    for memory in board.memories:
        size = "no limit" if memory.size_bytes is None else f"{memory.size_bytes:,} B"
        base = "" if memory.base is None else f"0x{memory.base:08x}"
        rows.append((memory.name, memory.kind, size, base, memory.section))
    yield Table(rows=rows, right=(2,), indent=2)
    yield from _waits(board)
    for tool, sections in board.sections.items():
        yield f"  sections of {tool}: {', '.join(f'{name} in {section}' for name, section in sections.items())}"
    for tool, name in board.tools.items():
        if tool.startswith("platformio-"):  # what a project needs beside the name
            continue
        yield f"  {tool} calls it {name}"
    for what, file in board.sources.items():
        yield f"  {what} from {file}"


def _waits(board: Board) -> Iterator[str]:
    """Of the chip's flash at the board's clock; what the cycle model counts is the target's."""
    waits = board.flash_waits
    if waits is None:
        return
    if board.clock_hz is None:
        yield f"  flash: up to {len(waits.up_to_hz) - 1} wait states, by the clock ({waits.condition})"
        return
    number, at = waits.at(board.clock_hz), clock_text(waits.bus_hz(board.clock_hz))
    states = f"wait state{'' if number == 1 else 's'}{' of its bus' if waits.divider > 1 else ''}"
    wide = f", {waits.width_bits} bits a read" if waits.width_bits else ""
    yield f"  flash: {number} {states} at {at}{wide} ({waits.condition})"


def _facts(board: Board) -> dict[str, Any]:
    """As `--json` writes them."""
    return {
        "name": board.name,
        "title": board.title,
        "part": board.part,
        "core": board.core,
        "target": board.target,
        "clock_hz": board.clock_hz,
        "sections": {tool: dict(sections) for tool, sections in board.sections.items()},
        "flash_waits": asdict(board.flash_waits) if board.flash_waits else None,
        "settings": dict(board.settings),
        "memories": [
            {
                "name": memory.name,
                "kind": memory.kind,
                "size_bytes": memory.size_bytes,
                "base": memory.base,
                "section": memory.section,
                "align": memory.align,
            }
            for memory in board.memories
        ],
        "tools": dict(board.tools),
        "sources": dict(board.sources),
    }
