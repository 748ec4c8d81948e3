"""Who waits at a terminal sees what is done, on one line that is gone afterwards; nobody else does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tilewright.cli import log_display
from tilewright.cli.log_display import verbose_flag, working
from tilewright.errors import model_error
from tilewright.ir.log_span import DEBUG, INFO, LOG, log_begin, log_span

WAITS = """
import sys, time
from tilewright.cli import log_display
from tilewright.ir.log_span import log_begin
log_display.PATIENCE_SECONDS = 0.1
with log_display.working("planning: whatever there is"):
    log_begin("step %d of 9", 7)
    time.sleep(0.5)
    if len(sys.argv) > 1:
        raise KeyboardInterrupt
sys.stderr.write("after")
"""


@pytest.mark.parametrize(("terminal", "text", "pause", "told"), [
    (True, "planning", 0.3, True),
    (True, "planning", 0, False),
    (True, "", 0.3, False),
    (False, "planning", 0.3, False),
])  # fmt: skip
def test_what_takes_long_is_said_once_where_a_line_cannot_change(
    terminal: bool,
    text: str,
    pause: float,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(log_display, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with working(text):
        time.sleep(pause)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "planning\n" if told else "")
    assert (LOG.handlers, LOG.level) == ([], 0)


@pytest.mark.parametrize("columns", [100, 20])
def test_the_line_says_what_begins_and_is_gone_at_the_end(at_terminal: Callable[..., Any], columns: int) -> None:
    *lines, last = at_terminal(program=WAITS, columns=columns).text.split("\r")[1:]
    shown = [line.removesuffix("\x1b[K") for line in lines]
    assert len(shown) >= 2
    assert all("  0 s  planning: step 7 of 9"[: columns - 3] in line for line in shown[:2])
    assert max(map(len, shown)) < columns
    assert last == "\x1b[Kafter"


@pytest.mark.slow
def test_an_interrupt_clears_it_too(at_terminal: Callable[..., Any]) -> None:
    assert "\r\x1b[KTraceback" in at_terminal("now", program=WAITS).text


def test_a_log_that_is_shown_says_more(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import logging

    monkeypatch.setattr(log_display, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    handler = logging.NullHandler()
    LOG.addHandler(handler)
    try:
        with working("planning"):
            log_begin("something")
            time.sleep(0.1)
    finally:
        LOG.removeHandler(handler)
    assert capsys.readouterr().err == ""


@click.command()
@verbose_flag
def work() -> None:
    """Something in two parts."""
    with log_span(INFO, "outer"):
        log_begin("nobody sees this")
        with log_span(DEBUG, "inner %s", "part"):
            pass


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        ([], []),
        (["-v"], ["s  outer"]),
        (["-vv"], ["s  inner part", "s  outer"]),
        (["--verbose"], ["s  outer"]),
    ],
)
def test_how_much_is_said(flags: list[str], shown: list[str]) -> None:
    done = CliRunner().invoke(work, flags)
    assert (done.exit_code, done.stdout) == (0, "")
    assert [line.split(maxsplit=1)[1] for line in done.stderr.splitlines()] == shown
    assert (LOG.handlers, LOG.level) == ([], 0)


@click.command()
@verbose_flag
def fail() -> None:
    """What no model can help."""
    raise model_error("TW1299", "it broke")


@pytest.mark.parametrize(("flags", "shown"), [(["-v"], False), (["-vv"], True)])
def test_where_an_error_was_raised_is_shown_with_two(flags: list[str], *, shown: bool) -> None:
    done = CliRunner().invoke(fail, flags)
    assert ("TW1299 was raised here" in done.stderr) == shown
    assert ("in fail" in done.stderr) == shown
