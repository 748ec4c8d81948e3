"""Knows how work is told to the log: what begins, and the CPU seconds that it took. Does not know who listens.

What is told is for people who wait or wonder: nothing is decided by it, and nothing of it reaches a file.
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

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def cpu_seconds() -> float:
    """Of this process, and of all that it has started and that has ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def log_begin(what: str, *words: object) -> None:
    """Tell that something begins, such as `begins("step %d", 3)`."""
    LOG.log(BEGINNING, what, *words)


@contextmanager
def log_span(level: int, what: str, *words: object) -> Iterator[None]:
    """Tell what begins, and at `level` the CPU seconds that it took. What fails is told by its error."""
    if not LOG.isEnabledFor(level):
        yield
        return
    log_begin(what, *words)
    started = cpu_seconds()
    yield
    LOG.log(level, f"%6.2f s  {what}", cpu_seconds() - started, *words)


def with_log_span(level: int, what: str) -> Callable[[Callable[Asked, Answer]], Callable[Asked, Answer]]:
    """For a function whose every call is told."""

    def decorate(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
        @wraps(function)
        def call(*words: Asked.args, **keywords: Asked.kwargs) -> Answer:
            with log_span(level, what):
                return function(*words, **keywords)

        return call

    return decorate
