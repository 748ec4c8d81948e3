"""Builds a wheel of the core and of every plugin into a folder, from a copy of the sources, and prints their paths.
Usage: python tools/wheels.py FOLDER [PROJECT...]. Never builds in the tree: a stale `build/` would end up in the wheel.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_SOURCES = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "tests", ".*")


def projects() -> list[Path]:
    """The folders that hold a distribution, the core first."""
    return [ROOT / "core", *sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))]


def build(project: Path, folder: Path) -> Path:
    """The wheel of one project."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / project.name
        built = Path(scratch) / "wheel"
        shutil.copytree(project, copy, ignore=NOT_SOURCES)
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(built), str(copy)]
        subprocess.run(command, check=True)
        (wheel,) = built.glob("*.whl")
        return Path(shutil.copy(wheel, folder))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for each in [Path(name).resolve() for name in sys.argv[2:]] or projects():
        sys.stdout.write(f"{build(each, target)}\n")
