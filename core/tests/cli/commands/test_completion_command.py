"""What shells are told, and what they are answered; each is really asked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright

MAIN = "from tilewright.cli import main; main()"


def answered(shell: str, words: str, at: int) -> list[str]:
    """What the program says when `shell` asks to complete the word at that place."""
    asked = {"_TILEWRIGHT_COMPLETE": f"{shell}_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    if shell == "fish":
        asked["COMP_CWORD"] = words.split()[at] if at < len(words.split()) else ""
    done = subprocess.run(
        [sys.executable, "-c", MAIN], env={**os.environ, **asked}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_answered(shell: str) -> None:
    assert any("compile" in word for word in answered(shell, "tilewright comp", 1))
    assert any("--const-format" in word for word in answered(shell, "tilewright compile --const", 2))
    assert any("best-fit" in word for word in answered(shell, "tilewright compile --allocator best", 3))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_what_a_shell_reads_names_the_program(shell: str) -> None:
    done = CliRunner().invoke(tilewright, ["completion", shell])
    assert done.exit_code == 0
    assert "_TILEWRIGHT_COMPLETE" in done.output
    assert f"{shell}_complete" in done.output


ASKED = {  # how a shell is asked what it would complete
    "bash": 'eval "$(tilewright completion bash)"; COMP_WORDS=(tilewright compile --ti); COMP_CWORD=2; '
    "_tilewright_completion tilewright --ti compile; echo ${COMPREPLY[@]}",
    "zsh": 'compdef() { }; _describe() { print -l -- "${(@P)3}" }; compadd() { print -l -- "${(@P)@[-1]}" }; '
    'eval "$(tilewright completion zsh)"; words=(tilewright compile --ti); CURRENT=3; _tilewright_completion',
    "fish": 'tilewright completion fish | source; complete -C "tilewright compile --ti"',
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", ASKED)
def test_a_shell_completes_a_line(shell: str, tmp_path: Path, tool: Any) -> None:
    program = tmp_path / "tilewright"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{MAIN}" "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    command = [tool(shell), "-c", ASKED[shell]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert re.match(r"--tiler(\s|:|$)", done.stdout), done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_it(shell: str, tmp_path: Path, tool: Any) -> None:
    text = CliRunner().invoke(tilewright, ["completion", shell]).output
    (tmp_path / "completion").write_text(text)
    done = subprocess.run([tool(shell), "-n", tmp_path / "completion"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
