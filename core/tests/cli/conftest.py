"""The command line at a terminal, as a user sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import dataclass

import pytest

MAIN = "from tilewright.cli import main; main()"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What a terminal was sent, and how the program ended."""

    text: str
    code: int

    @property
    def colourless(self) -> str:
        return ESCAPES.sub("", self.text)


@pytest.fixture(name="at_terminal")
def _at_terminal() -> Callable[..., Screen]:
    """`at_terminal("explain", TERM="xterm", columns=80, program=...)`: stdout and stderr are one terminal."""

    def run(*words: str, columns: int = 100, program: str = MAIN, **variables: str) -> Screen:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "COLORTERM")}
        command = [sys.executable, "-c", program, *words]
        environment = {**kept, "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", **variables}
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        text = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
        return Screen(text=text.decode().replace("\r\n", "\n"), code=process.wait(timeout=60))

    return run


def _read(terminal: int) -> bytes:
    """What there is, or nothing when whoever wrote has gone, which Linux calls an error."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
