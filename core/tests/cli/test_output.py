"""Who waits at a terminal is told why, and nobody else is."""

from __future__ import annotations

import sys
import time

import pytest

from tilewright.cli import output
from tilewright.cli.output import working


@pytest.mark.parametrize(
    ("terminal", "text", "pause", "told"),
    [
        (True, "planning", 0.3, True),
        (True, "planning", 0, False),
        (True, "", 0.3, False),
        (False, "planning", 0.3, False),
    ],
)
def test_what_takes_long_is_said_at_a_terminal(
    terminal: bool,
    text: str,
    pause: float,
    told: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with working(text):
        time.sleep(pause)
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "planning\n" if told else "")
