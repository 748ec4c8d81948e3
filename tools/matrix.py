"""Runs one environment of tox.ini: a package from its wheel beside the core's and nothing else, and its tests.
Usage: python tools/matrix.py install|test PACKAGE-PYTHON[-lowest] [ARGUMENT of pytest...]. The package `all` is every
one of them, and its tests are those that cross packages.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import install
from wheels import ROOT, projects


def main(action: str, environment: str, more: Sequence[str]) -> int:
    """The exit code."""
    package, *factors = environment.split("-")
    if action == "install":
        extras = ("test", "example", "docs") if package == "all" else ("test",)
        install.main(package, extras, lowest="lowest" in factors)
        return 0
    folder = ROOT if package == "all" else projects()[package]
    return subprocess.run([sys.executable, "-m", "pytest", str(folder / "tests"), *more], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
