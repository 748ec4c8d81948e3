"""How a command ends when something outside of it does: output that goes nowhere, Ctrl-C at any import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest

MAIN = "from tilewright.cli import main; main()"
# When the module is asked for, the process gets the signal that Ctrl-C sends.
INTERRUPTS = """
import os, signal, sys
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started this in the background
sys.meta_path.insert(0, Finder)
"""
FULL = Path("/dev/full")


def tilewright(
    *words: str, before: str = "", out: IO[str] | int = PIPE, err: IO[str] | int = PIPE, **variables: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{before}\n{MAIN}", *words]
    environment = {**os.environ, **variables}
    return subprocess.run(command, stdout=out, stderr=err, env=environment, text=True, check=False)


@pytest.mark.parametrize(
    "module", ["click", "tilewright.cli.main", "tilewright.cli.commands.plugins_command", "pluggy"]
)
def test_an_interrupt_while_something_is_imported_has_no_traceback(module: str) -> None:
    finished = tilewright("plugins", "doctor", before=INTERRUPTS, INTERRUPTED_AT=module)
    assert (finished.returncode, finished.stdout, finished.stderr) == (130, "", "interrupted: nothing was written\n")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [("--help",), ("explain",), ("plugins", "list", "--json", "-")], ids=" ".join)
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_disk_behind_standard_output_is_no_bug(words: tuple[str, ...], buffered: str) -> None:
    with FULL.open("w") as full:
        finished = tilewright(*words, out=full, PYTHONUNBUFFERED=buffered)
    assert finished.returncode == 2
    assert finished.stderr.startswith("error[TW1107]: cannot write there\n  at    standard output\n")
    assert "Traceback" not in finished.stderr


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_error_ends_the_command_in_peace() -> None:
    with FULL.open("w") as full:
        assert tilewright("plugins", "list", err=full).returncode == 0
