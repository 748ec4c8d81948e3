"""States of random graphs' plans: saved after any stage and continued, they must give the program that a compilation
without a stop gives.

    python benchmarks/random_states.py [--target siracusa] [--seeds 0:100] [--set NAME=VALUE] [--memory NAME=SIZE]
                                       [--optimize ram] [--half]

The graphs, and on machines with a scratchpad its sizes, are those of `random_float_tiles.py`. Ways by rows are found
together with the order, so that a state saved after `scheduled` has none, and where the plan has some, the program is
another. A line for each graph that gives another program, and how many there were of what;
the exit code is the number of failures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from random_float_tiles import counted

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError

STAGES = ("rewritten", "bound", "scheduled", "tiled", "allocated")


def outcomes(file: Path, target: str, options: Options, folder: Path) -> Iterator[tuple[str, str]]:
    """What became of the states of a graph's plan, stage by stage, and what is wrong with that."""
    first = Deployment(file, target, options)
    try:
        files = first.artifact.files
    except TilewrightError as error:
        yield f"no plan, {error.code}", ""
        return
    for stage in STAGES:
        first.export_state(folder / stage, stage)
        try:
            later = Deployment(file, target, options).import_state(folder / stage)
            same = later.artifact.files == files
        except TilewrightError as error:
            yield "failed", f"after {stage}: {error}"
            continue
        if not same and stage == "scheduled" and any(group.region.rows for group in first.allocated.tiled.groups):
            yield "same but for rows", ""
        else:
            yield ("same", "") if same else ("failed", f"after {stage}: another program")


def main() -> int:
    """How many states give another program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--optimize", default=Options().optimize, choices=("speed", "balanced", "ram"))

    def tried(file: Path, asked: argparse.Namespace, options: Options, _: str) -> Iterator[tuple[str, str]]:
        return outcomes(file, asked.target, replace(options, optimize=asked.optimize), file.with_suffix(".states"))

    return counted(parser, tried)["failed"]


if __name__ == "__main__":
    sys.exit(min(main(), 100))
