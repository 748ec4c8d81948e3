"""Knows how commands speak: results on stdout, progress and diagnostics on stderr. Does not know their content."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import click

from tilewright.errors import Diagnostic, usage_error
from tilewright.report.files import json_text
from tilewright.snapshot.atomic_folder import write_file

PLANNING = "planning: choosing kernels, cutting layers into tiles, placing buffers"
PATIENCE_SECONDS = 2.0  # nobody wonders before


def say(text: str = "") -> None:
    """A line of the result."""
    click.echo(text)


def progress(text: str) -> None:
    """A line about what is being done."""
    click.echo(text, err=True)


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say what takes so long, once it does, to somebody who waits: only where stderr is a terminal. "" says nothing."""
    timer = Timer(PATIENCE_SECONDS, progress, (text,))
    timer.daemon = True
    if text and sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def show_diagnostics(diagnostics: Iterable[Diagnostic], strict: bool) -> None:
    """Warnings and notes on stderr; with `strict`, a warning is an error (exit 2)."""
    warnings = 0
    for item in diagnostics:
        click.echo(item.render(), err=True)
        warnings += item.severity == "warning"
    if warnings and strict:
        raise usage_error(
            "TW1108", f"{warnings} warning(s), and --strict was given", fix=("solve them, or leave --strict out",)
        )


def send_json(value: Any, target: str) -> None:
    """To stdout for `-`, else to a file."""
    if target == "-":
        click.echo(json_text(value), nl=False)
    else:
        write_file(Path(target), json_text(value).encode())
