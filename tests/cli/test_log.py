"""`-v` of a real compilation: who is used, which stages run, and with `-vv` everything below them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

STAGES = ["frontend", "rewrite", "bind", "plan", "lower", "transform", "emit"]
TIMED = re.compile(r"^ *\d+\.\d\d s  (.*)$", re.MULTILINE)


def told(typed: Callable[[str], Any], desk: Path, line: str) -> tuple[Any, list[str]]:
    with contextlib.chdir(desk):
        done = typed(line)
    assert done.code == 0, done.err
    return done, TIMED.findall(done.err)


def test_stages_and_plugins_are_told_and_nothing_by_default(typed: Callable[[str], Any], desk: Path) -> None:
    quiet, nothing = told(typed, desk, "check net.onnx -t generic")
    assert (nothing, quiet.err) == ([], "")
    done, lines = told(typed, desk, "check net.onnx -t generic -v")
    assert done.out == quiet.out
    assert list(dict.fromkeys(line.partition(":")[0] for line in lines)) == STAGES
    assert re.search(r"^plugins: tilewright \S+, tilewright-cortexm \S+", done.err, re.MULTILINE)


def test_with_vv_passes_proposals_and_commands_are_told_too(typed: Callable[[str], Any], desk: Path) -> None:
    done, lines = told(typed, desk, "validate net.onnx -t generic -vv --sets 1")
    text = "\n".join(lines)
    for expected in ("plugin tilewright-cortexm", "graph pass 'fuse-activation'", "tile: tiler 'auto'", "schedule:",
                     "allocate: allocator 'auto'", "code pass 'hooks'", "compiling the generated code",
                     "run: runner 'host'", "judge:"):  # fmt: skip
        assert expected in text, expected
    assert done.out.endswith("PASS\n")
