"""Knows how the log is shown on stderr while a command runs: all of it with `-v`; or, to who waits at a terminal, its
newest line, which changes and is gone at the end. Does not know what the log says.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from threading import Event, Thread
from typing import Any, TypeVar

import click

from tilewright.cli.option import option
from tilewright.cli.output import columns_of, moves_on, progress
from tilewright.errors import TilewrightError
from tilewright.ir.log_span import BEGINNING, DEBUG, LOG

Command = TypeVar("Command", bound=Callable[..., Any])
PLANNING = "planning: choosing kernels, cutting layers into tiles, placing buffers"
LESS_MEMORY = "planning: looking for a plan in less memory"
RUNNING = "running: building the program, running it, judging what it computes"
JUDGING = "judging: computing the model on both sides, and exactly where they part"
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
        return "".join(letter if letter.isprintable() else "?" for letter in text)[: columns_of(sys.stderr) - 1]


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


def verbose_flag(command: Command) -> Command:
    """`-v` for stages and plugins, `-vv` for every pass, proposal and command, too."""
    return option(
        "-v",
        "--verbose",
        count=True,
        expose_value=False,
        callback=_shown,
        help="Say what runs, and the CPU seconds that it took: stages and plugins; with -vv every pass, proposal and "
        "command that is started, too.",
    )(command)


def _show_where_raised(error: BaseException | None) -> None:
    """With `-vv`, the calls that led to an error which is shown without them afterwards."""
    import traceback

    if isinstance(error, TilewrightError) and LOG.isEnabledFor(DEBUG):
        LOG.debug("%s was raised here:\n%s", error.code, "".join(traceback.format_tb(error.__traceback__)).rstrip())


def _shown(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    """Until the command ends: another one in this process says nothing again."""
    if not count:
        return

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            progress(self.format(record))

    handler, level = Shown(), LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG if count > 1 else logging.INFO)

    def restore() -> None:
        _show_where_raised(sys.exc_info()[1])
        LOG.removeHandler(handler)
        LOG.setLevel(level)

    context.call_on_close(restore)
