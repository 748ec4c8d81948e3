"""What commands write where nobody looks: a pipe, a file, a log. Scripts read it, so it is held to the byte.

`python tools/regenerate.py golden` writes the text anew.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parent / "golden" / "piped.txt"
LINES = (
    "check net.onnx -t generic --layers --clock 80MHz",
    "check net.onnx -t generic --memory ram=100",
    "check dyn.onnx -t generic",
    "check open.onnx -t generic",
    "check none.onnx -t generic",
    "compile net.onnx -t generic -o out",
    "compile net.onnx -t generic -o out --pool a:300,soft",
    "compile net.onnx -t generic -o out --pool a:300,soft --strict",
    "compile --group pair.toml -o both",
    "compile --group pair.toml -o both --clock 80MHz",
    "report net.json",
    "report net.json --format md",
    "diff net.json net.json",
    "plan blocks.csv --allocator best-fit,greedy-by-size",
    "explain TW5001",
)
BLOCKS = "id,lower,upper,size\na,0,2,10\nb,1,3,20\nc,2,4,10\n"
GROUP = 'target = "generic"\n[models]\none = "net.onnx"\ntwo = "net.onnx"\n'
CPU_SECONDS = re.compile(r"\d+\.\d\d s")


def everything(typed: Callable[[str], Any], desk: Path, folder: Path) -> str:
    """Every command with what it wrote and its exit code."""
    shutil.copytree(desk, folder, dirs_exist_ok=True)
    (folder / "blocks.csv").write_text(BLOCKS)
    (folder / "pair.toml").write_text(GROUP)
    told = []
    with contextlib.chdir(folder):
        for line in LINES:
            done = typed(line)
            told.append(f"$ tilewright {line}\n{done.out}--- stderr, exit {int(done.code)}\n{done.err}")
    return CPU_SECONDS.sub("0.00 s", "\n".join(told))


def test_a_pipe_gets_plain_text(typed: Callable[[str], Any], desk: Path, tmp_path: Path) -> None:
    found = everything(typed, desk, tmp_path)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
        pytest.skip("written anew")
    assert "\x1b" not in found
    assert found == GOLDEN.read_text(encoding="utf-8")
