"""Knows how log spans are written: what begins, and the CPU seconds that it took. Does not know who listens.

The log is for people who wait or wonder: nothing is decided by it, and nothing of it reaches a file.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from logging import DEBUG, INFO
from typing import ParamSpec, TypeVar

__all__ = ["BEGINNING", "DEBUG", "INFO", "LOG", "cpu_seconds", "log_begin", "log_span", "with_log_span"]

LOG = logging.getLogger("tilewright")
BEGINNING = 5  # level of a record about what begins now: for a line that shows the newest only

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def cpu_seconds() -> float:
    """Of this process, and of all that it has started and that has ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def log_begin(what: str, *words: object) -> None:
    """Log that something begins, such as `log_begin("step %d", 3)`."""
    LOG.log(BEGINNING, what, *words)


@contextmanager
def log_span(level: int, what: str, *words: object) -> Iterator[None]:
    """Log what begins, and at `level` the CPU seconds that it took. A failure is reported by its error."""
    if not LOG.isEnabledFor(level):
        yield
        return
    log_begin(what, *words)
    started = cpu_seconds()
    yield
    LOG.log(level, f"%6.2f s  {what}", cpu_seconds() - started, *words)


def with_log_span(level: int, what: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """For a function whose every call is a span of the log."""

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def call(*words: Parameters.args, **keywords: Parameters.kwargs) -> Result:
            with log_span(level, what):
                return function(*words, **keywords)

        return call

    return decorate
