"""States of random graphs' plans: saved after any stage and continued, they must give the program that a compilation
without a stop gives.

The graphs, and on machines with a scratchpad its sizes, are those of `float_tiles.py`. Ways by rows are found together
with the order, so that a state saved after `scheduled` has none, and where the plan has some, the program is another.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fuzzing.float_tiles import Graph, each_graph
from fuzzing.float_tiles import flags as graph_flags
from fuzzing.frame import Fuzz, Outcome, optimize_flag
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError

STAGES = ("rewritten", "bound", "scheduled", "tiled", "allocated")


def continued(file: Path, target: str, options: Options, folder: Path) -> Iterator[tuple[str, str]]:
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
        if (
            not same
            and stage == "scheduled"
            and any(group.region.line_buffers for group in first.allocated.tiled.groups)
        ):
            yield "same but for rows", ""
        else:
            yield ("same", "") if same else ("failed", f"after {stage}: another program")


def flags(parser: argparse.ArgumentParser) -> None:
    """Those of the graphs, and what plans are to be good at."""
    graph_flags(parser)
    optimize_flag(parser)


def outcomes(seeds: Sequence[int], asked: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the states of the graphs' plans."""

    def judge(graph: Graph, asked: argparse.Namespace) -> Iterator[tuple[str, str]]:
        options = replace(graph.options, optimize=asked.optimize)
        return continued(graph.file, graph.target, options, graph.file.with_suffix(".states"))

    return each_graph(judge, seeds, asked, folder)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
