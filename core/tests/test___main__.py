"""`python -m tilewright` is the command line."""

from __future__ import annotations

import subprocess
import sys

from tilewright import __version__


def test_python_finds_the_command_line_by_the_package() -> None:
    command = [sys.executable, "-m", "tilewright", "--version"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, f"tilewright, version {__version__}\n", "")
