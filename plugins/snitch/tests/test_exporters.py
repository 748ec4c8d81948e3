"""`--emit snitch`: a folder that builds with either compiler, and runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilewright.cli.main import tilewright
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright_snitch.exporters import EXPORTERS

DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits"


def compiled(folder: Path, *more: str, model: str = "digits_f32") -> Path:
    words = ["compile", str(DIGITS / f"{model}.onnx"), "-t", "snitch", "-o", str(folder), "-q", *more]
    result = CliRunner().invoke(tilewright, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("toolchain", "more", "said"),
    [
        ("gcc", ("--selftest",), "PASS"),
        ("gcc", ("--selftest", "--code-pass", "print-tensors"), "PASS"),
        ("zig", (), "bytes of a stack"),
    ],
    ids=["self-test", "without a console", "first program"],
)
def test_the_folder_builds_and_runs(
    toolchain: str, more: tuple[str, ...], said: str, simulator: Path, tool: Callable[[str], str], tmp_path: Path
) -> None:
    folder = compiled(tmp_path / "out", "--emit", "snitch", *more)
    words = [tool("make"), "-s", "-C", str(folder / "snitch"), "run", f"TOOLCHAIN={toolchain}"]
    done = subprocess.run(
        [*words, f"PYTHON={sys.executable}", f"GVSOC={simulator}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stdout


def test_a_network_with_a_header_more(tmp_path: Path) -> None:
    """Of what its quantised inputs are."""
    folder = compiled(tmp_path / "out", "--emit", "snitch", "--io-type", "int8", model="digits_int8")
    assert (folder / "digits_int8_quantize.h").is_file()
    assert "digits_int8.c" in (folder / "snitch" / "Makefile").read_text()


def test_another_targets_plan_is_refused() -> None:
    plan = Deployment(DIGITS / "digits_f32.onnx", "snitch")
    other = replace(plan.platform, name="other")
    bound = replace(plan.scheduled.bound, platform=other)
    tiled = replace(plan.allocated.tiled, scheduled=replace(plan.scheduled, bound=bound))
    with pytest.raises(TilewrightError) as refused:
        EXPORTERS[0].files(replace(plan.allocated, tiled=tiled), plan.artifact)
    assert refused.value.code == "TW8041"
    assert "--target snitch" in refused.value.fix
