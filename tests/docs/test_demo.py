"""The script of the main job: which Python it takes, and that it recovers from a try that failed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "digits" / "demo.sh"
# Notes what it is asked. `-m venv` makes a copy of it; FAILS is what it fails at; as an old Python it fails at `-c`.
# MISSING is what tilewright says of compilers.
STAND_IN = """#!/bin/sh
echo "$@" >>{log}
case "$*" in *"${{FAILS:-nothing at all}}"*) exit 1 ;; esac
case "$1 $2" in "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;; esac
case "$*" in *missing_compiler*) echo "$MISSING" ;; esac
"""


class Checkout:
    """A folder with the script, and a Python that only notes what it is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log, self.python = folder, folder / "log", folder / "python"
        (folder / "examples" / "digits").mkdir(parents=True)
        shutil.copy(DEMO, folder / "examples" / "digits")
        self.python.write_text(STAND_IN.format(log=self.log), encoding="utf-8")
        self.python.chmod(0o755)

    def run(self, **environment: str) -> subprocess.CompletedProcess[str]:
        """What the script says; `asked` is about this run alone."""
        self.log.write_text("", encoding="utf-8")
        command = ["sh", "examples/digits/demo.sh"]
        variables = {"PATH": "/usr/bin:/bin", "PYTHON": str(self.python), "MISSING": "", **environment}
        return subprocess.run(command, cwd=self.folder, env=variables, capture_output=True, text=True, check=False)

    @property
    def asked(self) -> str:
        return self.log.read_text(encoding="utf-8")


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_an_old_python_leaves_nothing_behind(checkout: Checkout) -> None:
    finished = checkout.run(FAILS="version_info")
    assert finished.returncode == 3
    assert "needs Python 3.11 or later" in finished.stderr and "try:" in finished.stderr
    assert not (checkout.folder / ".demo").exists()


def test_what_a_failed_try_left_is_made_afresh(checkout: Checkout) -> None:
    assert checkout.run(FAILS="onnxruntime").returncode != 0
    assert (checkout.folder / ".demo").exists()
    assert checkout.run().returncode == 0
    assert "-m venv .demo" in checkout.asked and "examples/digits/run.py" in checkout.asked


def test_what_is_complete_is_kept(checkout: Checkout) -> None:
    assert checkout.run().returncode == 0
    assert checkout.run().returncode == 0
    assert "-m venv" not in checkout.asked and "./core" in checkout.asked


def test_every_step_is_said_before_it_is_done(checkout: Checkout) -> None:
    """Whoever waits knows for what, and how much is fetched: a step that fails is the last that was said."""
    said = checkout.run(FAILS="onnxruntime").stderr.splitlines()
    assert "runs it on its 360 test images" in said[0]
    assert "2 of 4: onnxruntime" in said[-1] and re.search(r"about \d+ MB", said[-1])
    said = checkout.run(FAILS="./core").stderr.splitlines()
    assert "3 of 4: tilewright" in said[-1]


def test_a_compiler_is_installed_where_tilewright_finds_none(checkout: Checkout) -> None:
    said = checkout.run().stderr
    assert "4 of 4: a C compiler is there" in said and "ziglang" not in checkout.asked
    said = checkout.run(MISSING="no C compiler").stderr
    assert re.search(r"4 of 4: no C compiler: pip fetches ziglang.* about \d+ MB", said)
    assert "install --quiet --disable-pip-version-check ziglang" in checkout.asked


def test_who_names_a_compiler_that_is_not_there_gets_no_other(checkout: Checkout) -> None:
    said = checkout.run(CC="mine", MISSING="the compiler that CC names, 'mine', is not there").stderr
    assert "4 of 4: the compiler that CC names, 'mine', is not there" in said and "ziglang" not in checkout.asked
