"""Knows how somebody who waits at a terminal is told what takes so long: one line on stderr, which changes and is gone
at the end. Does not know what is done: it shows what the log says.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from threading import Event, Thread

import click

from tilewright.cli.output import columns_of, moves_on
from tilewright.ir.log_span import BEGINNING, LOG

PLANNING = "planning: choosing kernels, cutting layers into tiles, placing buffers"
LESS_MEMORY = "planning: looking for a plan in less memory"
RUNNING = "running: building the program, running it, judging what it computes"
PATIENCE_SECONDS = 2.0  # nobody wonders before
BEAT_SECONDS = 0.1
WHEEL = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TO_START, CLEAR_REST = "\r", "\x1b[K"


class Latest(logging.Handler):
    """The newest thing that the log has said."""

    def __init__(self) -> None:
        super().__init__(BEGINNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Of records that say what begins."""
        if record.levelno == BEGINNING:
            self.text = record.getMessage()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The line, and when it begins to be written."""

    text: str
    latest: Latest
    started: float
    done: Event = field(default_factory=Event)

    def keep(self) -> None:
        """Write it again and again, until what is waited for is done."""
        if self.done.wait(PATIENCE_SECONDS):
            return
        if not moves_on(sys.stderr):
            click.echo(self.text, err=True)
            return
        for spoke in cycle(WHEEL):
            click.echo(f"{TO_START}{self._shown(spoke)}{CLEAR_REST}", err=True, nl=False)
            if self.done.wait(BEAT_SECONDS):
                break
        click.echo(f"{TO_START}{CLEAR_REST}", err=True, nl=False)

    def _shown(self, spoke: str) -> str:
        """As much of it as one line of the terminal takes."""
        head = f"{spoke} {time.monotonic() - self.started:3.0f} s  {self.text.partition(':')[0]}"
        text = f"{head}: {self.latest.text}" if self.latest.text else head
        return "".join(one if one.isprintable() else "?" for one in text)[: columns_of(sys.stderr) - 1]


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say what takes so long, once it does, to somebody who waits: only where stderr is a terminal.

    Nothing is said of "", nor beside a log that is shown (`-v`), which says more.
    """
    if not text or not sys.stderr.isatty() or LOG.handlers:
        yield
        return
    latest, level = Latest(), LOG.level
    line = _Line(text=text, latest=latest, started=time.monotonic())
    writer = Thread(target=line.keep, daemon=True)
    LOG.addHandler(latest)
    LOG.setLevel(BEGINNING)
    writer.start()
    try:
        yield
    finally:
        LOG.removeHandler(latest)
        LOG.setLevel(level)
        line.done.set()
        writer.join()
