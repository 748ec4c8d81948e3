"""`-v` of a real compilation: who is used, which stages run, and with `-vv` everything below them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
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


def test_quantising_is_told_too(typed: Callable[[str], Any], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    with np.load(DIGITS / "digits_test.npz") as digits:
        np.savez(tmp_path / "samples.npz", image=digits["images"][:8])
    model = DIGITS / "digits_f32.onnx"
    _, lines = told(typed, tmp_path, f"quantize {model} --calibration samples.npz -o int8.onnx -v")
    assert [line.partition(":")[0] for line in lines] == ["prepare", "quantise", "compare", "compare"]


def test_with_vv_passes_proposals_and_commands_are_told_too(typed: Callable[[str], Any], desk: Path) -> None:
    done, lines = told(typed, desk, "validate net.onnx -t generic -vv --sets 1")
    text = "\n".join(lines)
    for expected in ("plugin tilewright-cortexm", "graph pass 'fuse-activation'", "tile: tiler 'auto'", "schedule:",
                     "allocate: allocator 'auto'", "code pass 'hooks'", "compiling the generated code",
                     "run: runner 'host'", "judge:"):  # fmt: skip
        assert expected in text, expected
    assert done.out.endswith("PASS\n")
