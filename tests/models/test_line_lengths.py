"""No line of generated C is longer than 120 characters, however long the names of the network are."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
NAME = "abcdefghijklmnopqrstuvwxyz_bcdefghijklmn"  # as long as a prefix may be
PROGRAMS = (
    ("digits_int8", "generic", ("--selftest",)),
    ("digits_int8", "generic", ("--io", "image=push", "--io", "scores=user")),
    ("digits_f32", "cortex-m4", ("--code-pass", "lifetimes", "--layout", "split")),
    ("digits_int8", "cortex-m55", ("--io", "user")),
    ("digits_f32", "siracusa", ("--memory", "l1=16K", "--code-pass", "profile")),
    ("digits_int8", "snitch", ()),
)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "target", "flags"), PROGRAMS)
def test_lines_are_short(tmp_path: Path, model: str, target: str, flags: Sequence[str]) -> None:
    asked = ["compile", str(DIGITS / f"{model}.onnx"), "--target", target, "--name", NAME, *flags]
    subprocess.run([sys.executable, "-m", "tilewright", *asked, "-o", str(tmp_path)], check=True)
    files = [*tmp_path.glob("*.c"), *tmp_path.glob("*.h")]
    assert len(files) > 3
    lines = [
        f"{file.name}:{at}"
        for file in files
        for at, line in enumerate(file.read_text().split("\n"), 1)
        if len(line) > 120
    ]
    assert lines == []
