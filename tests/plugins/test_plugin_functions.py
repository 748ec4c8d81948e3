"""An error inside a function of a healthy package names the package, the function and the line."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

MODEL = Path(__file__).parents[2] / "examples" / "digits" / "digits_int8.onnx"
BREAK = """
import {module}
def broken(*arguments, **others):
    return [][1]
{module}.{name} = broken
from tilewright.cli import main
main()
"""


@pytest.mark.parametrize(
    ("module", "name", "package", "function"),
    [
        ("tilewright_siracusa.platform", "_prelude", "tilewright-siracusa", "_configured"),
        ("tilewright_siracusa.kernels.layers", "refused_products", "tilewright-siracusa", "sums_of"),
    ],
)
def test_the_culprit_is_named(module: str, name: str, package: str, function: str) -> None:
    code = BREAK.format(module=module, name=name)
    command = [sys.executable, "-c", code, "check", str(MODEL), "-t", "siracusa"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 8, finished.stderr
    first, *lines, last = finished.stderr.rstrip().split("\n")
    (place,) = (line for line in lines if line.startswith("  at    "))
    assert first.startswith(f"error[TW8061]: plugin {package} ")
    assert f"failed in its function '{function}" in first
    assert "IndexError" in finished.stderr
    assert re.fullmatch(r"  at    tilewright_siracusa/[\w/]+\.py:\d+", place)
    assert last.startswith(f"  try:  report it to the author of {package}")
