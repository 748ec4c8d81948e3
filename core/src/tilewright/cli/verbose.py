"""Knows `-v` and `-vv`: that the log is shown on stderr while a command runs. Does not know what the log says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from tilewright.cli.option import option

Command = TypeVar("Command", bound=Callable[..., Any])


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


def _shown(context: click.Context, _parameter: click.Parameter, count: int) -> None:
    """Until the command ends: another one in this process says nothing again."""
    if not count:
        return
    import logging

    from tilewright.cli.output import progress
    from tilewright.ir.log_span import LOG

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            progress(self.format(record))

    handler, level = Shown(), LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.DEBUG if count > 1 else logging.INFO)

    def ended() -> None:
        LOG.removeHandler(handler)
        LOG.setLevel(level)

    context.call_on_close(ended)
