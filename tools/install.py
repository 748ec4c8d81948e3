"""Installs wheels of the core and of the package named into the running Python, never editable, and what they need.
Usage: python tools/install.py PACKAGE [EXTRA,...] [--lowest]; PACKAGE is `core`, what stands behind `tilewright-`, or
`all`. With `--lowest` in the lowest versions that the packages declare, which uv finds. Wheels are freshly built, or
taken from the folder TILEWRIGHT_WHEELS. uv installs where it is on PATH, and pip elsewhere: the same, in more time.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wheels import metadata, projects, wheel_of

BUILT = "TILEWRIGHT_WHEELS"
INSTALL = ("install", "-q", "--no-compile")  # what is imported is compiled then: most of what comes along never is


def main(package: str, extras: Sequence[str], *, lowest: bool) -> None:
    """The package, the core and what else of this repository it is for, with those of the `extras` that they have."""
    known = projects()
    chosen = list(known.values()) if package == "all" else list(_with_needed(package, known))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get(BUILT, scratch))
        wheels = [wheel_of(project, folder) for project in chosen]
        needs = [need for project in chosen for need in _needs(project, extras)]
        limits = ["-c", str(_lowest(needs, Path(scratch)))] if lowest else []
        _pip(*INSTALL, *limits, *needs)
        anew = ("--force-reinstall", "--no-deps")  # the version may be the same, not the content
        _pip(*INSTALL, *anew, *map(str, wheels))
        _pip("check")


def _with_needed(package: str, known: Mapping[str, Path]) -> Iterator[Path]:
    """The core, what of this repository the package asks for, and the package."""
    yield known["core"]
    for need in metadata(known[package])["dependencies"]:
        if name := re.match(r"tilewright-(\w+)", need):
            yield known[name[1]]
    if package != "core":
        yield known[package]


def _needs(project: Path, extras: Sequence[str]) -> Iterator[str]:
    """What a project asks for beside packages of this repository."""
    declared = metadata(project)
    optional = declared.get("optional-dependencies", {})
    for need in [*declared["dependencies"], *(need for extra in extras for need in optional.get(extra, ()))]:
        if not need.startswith("tilewright"):
            yield need


def _lowest(needs: Sequence[str], folder: Path) -> Path:
    """A file with the lowest versions that meet what is asked for directly, and the newest of what these ask for."""
    demands, result = folder / "needs.txt", folder / "lowest.txt"
    demands.write_text("\n".join(needs), encoding="utf-8")
    command = ["uv", "pip", "compile", "-q", "--resolution", "lowest-direct", "--python", sys.executable]
    subprocess.run([*command, "-o", str(result), str(demands)], check=True, stdout=subprocess.DEVNULL)
    return result


def _pip(action: str, *words: str) -> None:
    """With uv; with pip where there is no uv, or where it fails: uv does not read what pip is told of mirrors."""
    if uv := shutil.which("uv"):
        by_uv = [uv, "pip", action, "--python", sys.executable, *words]
        if subprocess.run(by_uv, check=False, stdout=subprocess.DEVNULL).returncode == 0:
            return
    subprocess.run([sys.executable, "-m", "pip", action, *words], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", choices=("all", *projects()), metavar="PACKAGE")
    parser.add_argument("extras", nargs="?", default="", metavar="EXTRA,...")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions that the packages declare")
    words = parser.parse_args()
    main(words.package, words.extras.split(","), lowest=words.lowest)
