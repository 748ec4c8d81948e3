"""What `tilewright new-target` and `new-plugin` write is green as it is written: installed, linted and tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PLUGINS = ("allocator", "tiler", "pass", "runner", "importer", "exporter")


def written(folder: Path, *words: str) -> Path:
    made = folder / "made"
    command = [sys.executable, "-m", "tilewright", *words, "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def green(site: Any, package: Path, *flags: str) -> None:
    for tool in (["check"], ["format", "--check"]):
        ruff = subprocess.run(["ruff", *tool], cwd=package, capture_output=True, text=True, check=False)
        assert ruff.returncode == 0, ruff.stdout
    doctor = site.tilewright("plugins", "doctor")
    assert doctor.returncode == 0, doctor.stdout
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *flags],
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(site.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--dma", "--engine", "--simulator")], ids=["plain", "everything"])
def test_a_new_target_is_green(build_site: Any, tmp_path: Path, flags: tuple[str, ...]) -> None:
    package = written(tmp_path, "new-target", "acme-new", *flags)
    green(build_site(package), package, "--tilewright-target", "acme-new")


@pytest.mark.long
@pytest.mark.parametrize(
    "flags", [("--dma",), ("--engine",), ("--simulator",), ("--engine", "--simulator")], ids=" ".join
)
def test_every_other_new_target_is_green(build_site: Any, tmp_path: Path, flags: tuple[str, ...]) -> None:
    package = written(tmp_path, "new-target", "acme-new", *flags)
    green(build_site(package), package, "--tilewright-target", "acme-new")


@pytest.mark.slow
@pytest.mark.parametrize("kind", PLUGINS)
def test_a_new_plugin_is_green(build_site: Any, tmp_path: Path, kind: str) -> None:
    package = written(tmp_path, "new-plugin", f"acme-{kind}", "--kind", kind)
    green(build_site(package), package)
