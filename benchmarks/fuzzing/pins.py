"""Decisions of random graphs' plans: all of them, saved and pinned, must give the program again; parts of them must
be kept or refused with a next step.

The graphs, and on machines with a scratchpad its sizes, are those of `float_tiles.py`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzzing.float_tiles import Graph, each_graph
from fuzzing.float_tiles import flags as graph_flags
from fuzzing.frame import Fuzz, Outcome, optimize_flag
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.snapshot.saved_stage import decisions_from_json

PARTS = 4  # of the decisions of each plan
SHARES = (1.0, 1.0, 0.5, 0.2)  # of what stands under one key
REFUSED = (Exit.USAGE, Exit.DOES_NOT_FIT, Exit.UNSUPPORTED)


def saved(plan: Deployment, folder: Path) -> Mapping[str, Any]:
    """The decisions of a plan, as they stand in a file."""
    plan.export_state(folder, "allocated")
    result: Mapping[str, Any] = json.loads((folder / "state.json").read_text())["value"]["decisions"]
    return result


def part_of(decisions: Mapping[str, Any], numbers: random.Random) -> dict[str, Any]:
    """Some keys, and some of what stands under them."""
    result: dict[str, Any] = {}
    for key, value in decisions.items():
        share = numbers.choice(SHARES)
        if numbers.random() < 0.5:
            inside = isinstance(value, dict)
            result[key] = (
                {name: inner for name, inner in value.items() if numbers.random() < share} if inside else value
            )
    return result


def kept(file: Path, target: str, options: Options, folder: Path, seed: int) -> Iterator[tuple[str, str]]:
    """What became of all decisions of a plan and of parts of them, and what is wrong with that."""

    def pinned(decisions: Mapping[str, Any]) -> Deployment:
        return Deployment(file, target, replace(options, pins=decisions_from_json(json.dumps(decisions))))

    first = Deployment(file, target, options)
    try:
        files = first.artifact.files
    except TilewrightError as error:
        yield f"no plan, {error.code}", ""
        return
    decisions, numbers = saved(first, folder), random.Random(seed)
    same = pinned(decisions).artifact.files == files
    yield "given again" if same else "failed", "" if same else "another program"
    for _ in range(PARTS):
        part = part_of(decisions, numbers)
        try:
            assert pinned(part).artifact.files
            yield "part kept", ""
        except TilewrightError as error:
            proper = error.exit_code in REFUSED and error.fix
            yield f"part refused, {error.code}" if proper else "failed", "" if proper else f"{error} {json.dumps(part)}"


def flags(parser: argparse.ArgumentParser) -> None:
    """Those of the graphs, and what plans are to be good at."""
    graph_flags(parser)
    optimize_flag(parser)


def outcomes(seeds: Sequence[int], asked: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the decisions of the graphs' plans."""

    def judge(graph: Graph, asked: argparse.Namespace) -> Iterator[tuple[str, str]]:
        options = replace(graph.options, optimize=asked.optimize)
        return kept(graph.file, graph.target, options, graph.file.with_suffix(".state"), graph.seed)

    return each_graph(judge, seeds, asked, folder)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
