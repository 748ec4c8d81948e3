"""What nobody has seen: graphs, networks, flags and decisions, drawn by a seed and held against what they must give.

    python benchmarks/fuzz.py --what NAME [--seeds 0:100] [--keep FOLDER] [whatever NAME takes]
    python benchmarks/fuzz.py --what NAME --help

A line for each case of which something is wrong, what is summed of the others as a table, and how many cases ended how.
The exit code is the number of those that are wrong, at most 100. `--keep` keeps the files of a seed of which something
is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from fuzzing.frame import Fuzz, run

WHAT = (
    "cortex_m",
    "flags",
    "float_graphs",
    "float_tiles",
    "groups",
    "mutants",
    "networks",
    "pins",
    "quantised",
    "rows",
    "states",
    "windows",
)


def chosen(name: str) -> Fuzz:
    """What is drawn, and how it is judged: a module of `fuzzing` each."""
    fuzz: Fuzz = importlib.import_module(f"fuzzing.{name}").FUZZ
    return fuzz


def main() -> int:
    """How many cases are wrong."""
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--what", choices=WHAT)
    name = first.parse_known_args()[0].what
    fuzz = chosen(name) if name else None
    parser = argparse.ArgumentParser(
        description=fuzz.about if fuzz else __doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--what", choices=WHAT, required=True)
    parser.add_argument("--seeds", default="0:100", metavar="FIRST:END")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    if fuzz:
        fuzz.flags(parser)
    arguments = parser.parse_args()
    assert fuzz  # argparse demands a name
    return run(fuzz, arguments)


if __name__ == "__main__":
    sys.exit(min(main(), 100))
