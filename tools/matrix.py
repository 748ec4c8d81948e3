"""Runs one environment of tox.ini: a package from its wheel beside the core's and nothing else, and its tests.
Usage: python tools/matrix.py install|test PACKAGE-PYTHON[-lowest] [ARGUMENT of pytest...]. The package `all` is every
one of them, and its tests are those that cross packages.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

import install
from wheels import ROOT, projects

TARGETS = {"cortexm": "cortex-m55", "siracusa": "siracusa", "snitch": "snitch"}


def main(action: str, environment: str, more: Sequence[str]) -> int:
    """The exit code."""
    package, *factors = environment.split("-")
    if action == "install":
        extras = ("test", "lint", "example", "docs") if package == "all" else ("test",)
        install.main(package, extras, lowest="lowest" in factors)
        return 0
    folder = ROOT if package == "all" else projects()[package]
    suite = [f"--tilewright-target={TARGETS[package]}"] if package in TARGETS else []  # every kernel of the package
    command = [sys.executable, "-m", "pytest", str(folder / "tests"), *suite, *more]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("install", "test"))
    parser.add_argument("environment", metavar="PACKAGE-PYTHON[-lowest]")
    parser.add_argument("more", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="pytest's")
    words = parser.parse_args()
    sys.exit(main(words.action, words.environment, words.more))
