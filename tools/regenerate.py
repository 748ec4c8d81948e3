"""Writes anew what is made from the sources: the API, reference pages, figures, the path of one Conv, the
tables of benchmarks as they are kept, and the golden files of tests. Usage: python tools/regenerate.py [PART...], all
of them unless named.

Review the difference with git: golden files change only with a reason in the commit. Figures need
a C compiler. The parts, in the order in which they are written:
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VARIABLE = "UPDATE_GOLDEN"
TESTS = ("core/tests", "plugins", "tests")
SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "api": ("tools/build_api.py",),
    "reference": ("tools/build_reference.py",),
    "figures": ("tools/draw_figures.py",),
    "recording": ("tools/draw_check.py",),
    "path": ("tools/trace_compile.py", "--page"),
    "tables": ("tools/benchmark_tables.py",),
}
GOLDEN = "golden"
PARTS = (*SCRIPTS, GOLDEN)


def golden_tests() -> tuple[str, ...]:
    """The tests that write what they compare with when the variable is set."""
    files = (file for folder in TESTS for file in sorted((ROOT / folder).rglob("test_*.py")))
    asking = f'os.environ.get("{VARIABLE}")'
    return tuple(file.relative_to(ROOT).as_posix() for file in files if asking in file.read_text("utf-8"))


def command(part: str) -> tuple[str, ...]:
    """What writes one part."""
    words = ("-m", "pytest", "-q", *golden_tests()) if part == GOLDEN else SCRIPTS[part]
    return (sys.executable, *words)


def regenerate(part: str) -> None:
    """Write one part. SystemExit where that fails."""
    sys.stdout.write(f"{part}\n")
    sys.stdout.flush()
    done = subprocess.run(command(part), cwd=ROOT, env={**os.environ, VARIABLE: "1"}, check=False)
    if done.returncode:
        raise SystemExit(f"{part}: {' '.join(command(part)[1:])} ended with status {done.returncode}")


if __name__ == "__main__":
    about = f"{__doc__}{', '.join(PARTS)}."
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    words = parser.parse_args()
    if unknown := [name for name in words.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in PARTS:
        if not words.parts or name in words.parts:
            regenerate(name)
