"""Builds a wheel of the core and of every plugin into a folder, from a copy of the sources, and prints their paths.
Usage: python tools/wheels.py FOLDER [PROJECT...]. Never builds in the tree: a stale `build/` would end up in the wheel.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOT_SOURCES = shutil.ignore_patterns("build", "dist", "*.egg-info", "__pycache__", "tests", ".*", "*.so")


def projects() -> dict[str, Path]:
    """The folders that hold a distribution by its short name, the core first: `siracusa` is tilewright-siracusa.
    A hyphen inside a name becomes an underscore: tox takes hyphens apart."""
    plugins = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
    return {
        "core": ROOT / "core",
        **{str(metadata(each)["name"]).removeprefix("tilewright-").replace("-", "_"): each for each in plugins},
    }


def metadata(project: Path) -> dict[str, Any]:
    """The table `project` of its pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def build(project: Path, folder: Path) -> Path:
    """The wheel of one project."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / project.name
        built = Path(scratch) / "wheel"
        shutil.copytree(project, copy, ignore=NOT_SOURCES)
        _make_wheel(copy, built)
        (wheel,) = built.glob("*.whl")
        return Path(shutil.copy(wheel, folder))


def _make_wheel(sources: Path, folder: Path) -> None:
    """With uv where it is on PATH, in a quarter of the time; with pip elsewhere, and where uv fails: it does not read
    what pip is told of mirrors."""
    if uv := shutil.which("uv"):
        by_uv = [uv, "build", "-q", "--wheel", "--python", sys.executable, "--out-dir", str(folder), str(sources)]
        if subprocess.run(by_uv, check=False, capture_output=True).returncode == 0:
            return
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(folder), str(sources)]
    subprocess.run(command, check=True)


def wheel_of(project: Path, folder: Path) -> Path:
    """The wheel of a project that is in `folder` already, or that is built there."""
    built = sorted(folder.glob(f"{metadata(project)['name'].replace('-', '_')}-[0-9]*.whl"))
    return built[0] if built else build(project, folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("projects", nargs="*", type=Path, metavar="PROJECT", help="folders; default: all")
    words = parser.parse_args()
    target, asked = words.folder, [one.resolve() for one in words.projects] or list(projects().values())
    with ThreadPoolExecutor(2) as pool:  # what builds one is installed while another is built
        for made in pool.map(lambda each: build(each, target), asked):
            sys.stdout.write(f"{made}\n")
