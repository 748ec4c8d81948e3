"""Random float graphs in little scratchpad: every step of every graph on the twin of a machine with several cores.

    python benchmarks/random_float_tiles.py [--target siracusa] [--seeds 0:100] [--set NAME=VALUE] [--memory NAME=SIZE]

The graphs are those of `random_float_graphs.py` with longer axes, operands without elements among them. The scratchpad
has one of a few sizes; where that is too small, the size that the refusal names, which must do. A line for each graph
that is not right, and how many there were of what; the exit code is the number of failures.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import onnx
import random_float_graphs

from tilewright.config.memory_pools import parse_bytes
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.runner import Job
from tilewright.plugins import load_for, load_named
from tilewright.validate.comparison import judge_steps
from tilewright.validate.vectors import random_vectors

EXTENTS = (1, 3, 8, 13, 29)
SIZES = (1500, 3000, 6000, 12000, 24000)
REFUSED = (Exit.UNSUPPORTED, Exit.MODEL)
MOST_SIZES = 2  # that a refusal names, one after the other


def written(seed: int, file: Path) -> str:
    """The graph's operators; "" where nothing was drawn."""
    random_float_graphs.EXTENTS = EXTENTS
    d = random_float_graphs.drawn(seed)
    read = {name for node in d.nodes for name in node.input}
    ends = [name for node in d.nodes for name in node.output if name not in read and name in d.shapes]
    if not ends:
        return ""
    onnx.save(onnx.shape_inference.infer_shapes(random_float_graphs.model(d, ends)), file)
    return " ".join(node.op_type for node in d.nodes)


def wrong_steps(file: Path, target: str, options: Options) -> list[str]:
    """The steps that are not what the reference computes. TilewrightError where there is no program, or it fails."""
    plan = Deployment(file, target, options)
    sets = tuple(one.inputs for one in random_vectors(plan.inputs, 1, 7))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=sets, trace=True)
    with tempfile.TemporaryDirectory() as folder:
        result = load_named(("runner", "twin")).runners["twin"].run(job, Path(folder))
    graph, steps = plan.scheduled.bound.graph, [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(graph, steps, plan.registry.operators, sets, result.values)
    return [f"{verdict.name} ({verdict.op})" for verdict in verdicts if not verdict.exact]


def outcome(file: Path, target: str, options: Options, near: str, size: int) -> tuple[str, str]:
    """What became of a graph in so much scratchpad, or in as much as it is said to need; and what is wrong."""
    for _ in range(MOST_SIZES + 1):
        try:
            wrong = wrong_steps(file, target, replace(options, memory={**options.memory, near: size}))
            return ("wrong", ", ".join(wrong)) if wrong else ("right", "")
        except TilewrightError as error:
            named = re.search(rf"--memory {near}=(\d+)", " ".join(error.fix))
            if error.exit_code is Exit.DOES_NOT_FIT and named and int(named[1]) > size:
                size = int(named[1])
                continue
            if error.exit_code is Exit.DOES_NOT_FIT:
                return "does not fit", ""
            if error.exit_code in REFUSED:
                return f"refused, {error.code}", ""
            return "failed", f"{near}={size}: {error}"
    return "failed", f"not even {near}={size} does, which a refusal named"


def main() -> int:
    """How many are not right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="siracusa")
    parser.add_argument("--seeds", default="0:100", help="FIRST:END")
    parser.add_argument("--memory", action="append", default=[], metavar="NAME=SIZE")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    options = Options(
        memory={name: parse_bytes(size) for name, size in (text.split("=", 1) for text in asked.memory)},
        settings=dict(text.split("=", 1) for text in asked.settings),
    )
    near = load_for(target=asked.target).platforms[asked.target].near
    counted: Counter[str] = Counter()
    first, end = map(int, asked.seeds.split(":"))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, end):
            file = Path(folder) / f"graph{seed}.onnx"
            operators = written(seed, file)
            if operators:
                what, why = outcome(file, asked.target, options, near, random.Random(seed).choice(SIZES))
                counted[what] += 1
                if why:
                    print(f"seed {seed}, {operators}: {what}: {why}", flush=True)
    print(dict(counted))
    return counted["wrong"] + counted["failed"]


if __name__ == "__main__":
    sys.exit(min(main(), 100))
