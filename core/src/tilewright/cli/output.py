"""Knows how commands speak: results on stdout, progress and diagnostics on stderr; drawn for a terminal, plain for
everything else. Does not know their content, or how anything is drawn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from tilewright.errors import Diagnostic, demand_no_warnings, usage_error
from tilewright.report.plain_text import Part, json_text, plain
from tilewright.snapshot.atomic_folder import demand_writable_file, write_file

DUMB = ("", "dumb", "unknown")  # values of TERM: it can do nothing but print


def say(*parts: Part) -> None:
    """Lines and tables of the result; an empty line where there are none."""
    _show(parts, sys.stdout)


def progress(*parts: Part) -> None:
    """Lines and tables about what is being done."""
    _show(parts, sys.stderr)


def complain(problem: object) -> None:
    """A diagnostic or an error, as its text."""
    _show((str(problem),), sys.stderr)


def hand_over(text: str, *, err: bool = False) -> None:
    """What a program reads, as it is."""
    click.echo(text, err=err)


def _show(parts: tuple[Part, ...], stream: TextIO) -> None:
    if drawn_on(stream):
        from tilewright.cli.terminal import drawn

        text = drawn(parts, columns_of(stream))
    else:
        text = plain(parts)
    click.echo(text, err=stream is sys.stderr)


def drawn_on(stream: TextIO) -> bool:
    """Whether colours and lines are for somebody: a terminal that can show them, and nobody said no (NO_COLOR)."""
    return moves_on(stream) and not os.environ.get("NO_COLOR")


def moves_on(stream: TextIO) -> bool:
    """Whether `stream` is a terminal that can write over what it has written, and takes more than ASCII."""
    return stream.isatty() and os.environ.get("TERM", "") not in DUMB and stream.encoding.lower().startswith("utf")


def columns_of(stream: TextIO) -> int:
    """Characters in a line of a terminal; 80 where it does not know."""
    return os.get_terminal_size(stream.fileno()).columns or 80


def show_diagnostics(diagnostics: Iterable[Diagnostic], strict: bool) -> None:
    """Warnings and notes on stderr; with `strict`, a warning is an error (exit 2)."""
    items = tuple(diagnostics)
    for item in items:
        complain(item.render())
    if strict:
        demand_no_warnings(items, shown=True)


def demand_writable_files(*targets: Path | str | None, read: Sequence[Path | None] = ()) -> None:
    """Fail early, before any work, when one of the files cannot be written; None is no file, and `-` is stdout.

    `read`: files that the command reads. TilewrightError (exit 2): TW1107, and TW1125 where one of these would be
    written over, or a file is written twice.
    """
    files = [Path(target) for target in targets if target not in (None, "", "-")]
    for number, file in enumerate(files):
        demand_writable_file(file)
        demand_apart(file, [other for other in (*read, *files[:number]) if other is not None])


def demand_apart(target: Path | str | None, others: Iterable[Path]) -> None:
    """TilewrightError TW1125 (exit 2) where a result is to be written over what is read, or over another result."""
    if target not in (None, "", "-") and Path(target).resolve() in {other.resolve() for other in others}:
        raise usage_error(
            "TW1125",
            f"cannot write '{target}': it is read by this command, or another result is written there",
            fix=("name another file for this result",),
        )


def send_result(value: Any, json_target: str | None, *parts: Part) -> None:
    """The value as JSON where that is asked for, and the parts on stdout unless the JSON is there."""
    if json_target:
        send_json(value, json_target)
    if json_target != "-":
        say(*parts)


def send_json(value: Any, target: str) -> None:
    """To stdout for `-`, else to a file."""
    if target == "-":
        click.echo(json_text(value), nl=False)
    else:
        write_file(Path(target), json_text(value).encode())
