"""The networks it is given, tiled for a made-up cluster and run on the twin, at every size of the scratchpad.

    python benchmarks/twin_matrix.py [--sizes 256,64,16] [--networks kws_int8,...] [--sanitize]

Without networks: the trained ones beside the checkout. Every step is compared with its exact reference.
Cycles are those of the twin's virtual clock: the made-up cluster's own estimates for kernels and copies, played by the
generated program. `overlap` is them over the sum of every step's larger part, computation or copies; the last column
what moved between home and scratchpad over what must move. A line says what does not fit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.plugins import load_for
from tilewright.report.report_json import build_report
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import CLUSTER

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
SIZES = (256, 64, 32, 16, 8)
HEAD = (
    "| network | L1, KiB | buffers | L1 used, B | steps exact | estimate, cycles | twin, cycles | overlap "
    "| bytes moved | bytes, ratio |\n|---|---:|---|---:|---|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Point:
    """One cell of the matrix."""

    model: Path
    near_kib: int
    buffering: Any


def main() -> int:
    """Print the table; 1 when a step is not exact or a network does not fit."""
    arguments = parsed()
    wrong = 0
    print(HEAD, flush=True)
    for point in points(arguments):
        start = time.perf_counter()
        try:
            line, exact = measured(point, arguments.sanitize)
        except TilewrightError as error:
            line, exact = f"| {error.code} {error.message[:90]} |", False
        wrong += not exact
        print(f"| {point.model.stem} | {point.near_kib} | {point.buffering} {line}", flush=True)
        print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr)
    return int(wrong > 0)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--networks", default="")
    parser.add_argument("--buffering", default="single,double")
    parser.add_argument("--sanitize", action="store_true")
    return parser.parse_args()


def points(arguments: argparse.Namespace) -> Iterator[Point]:
    """The matrix, network by network."""
    wanted = arguments.networks.split(",") if arguments.networks else []
    models = [MODELS / f"{name}.onnx" for name in wanted] or sorted(MODELS.glob("*.onnx"))
    for model in models:
        for size in map(int, arguments.sizes.split(",")):
            for buffering in arguments.buffering.split(","):
                yield Point(model, size, buffering)


def measured(point: Point, sanitize: bool) -> tuple[str, bool]:
    """The rest of the line, and whether every step is exact."""
    registry = replace(load_for(target="generic"), platforms={CLUSTER.name: CLUSTER})
    options = Options(memory={"l1": point.near_kib << 10}, buffering=point.buffering)
    plan = Deployment(point.model, CLUSTER.name, options, registry)
    inputs = tuple(vector.inputs for vector in random_vectors(plan.inputs, 1, 0))
    job = Job(
        artifact=plan.artifact,
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=inputs,
        trace=True,
        sanitize=sanitize,
    )
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        result = TwinRunner(seeds=(0, 1)).run(job, Path(folder))
    verdicts = judge_steps(
        plan.scheduled.bound.graph,
        [step.name for step in plan.scheduled.steps],
        plan.registry.operators,
        inputs,
        result.values,
    )
    exact = sum(verdict.exact for verdict in verdicts)
    return described(plan, result, exact), exact == len(verdicts)


def described(plan: Deployment, result: RunResult, exact: int) -> str:
    """The figures of one run."""
    steps = [result.step_counts[step.name] for step in plan.scheduled.steps]
    floor = sum(max(step["compute_cycles"], step["copy_cycles"]) for step in steps)
    moved = sum(count for name, count in result.counts.items() if name.startswith("bytes."))
    bound = bound_bytes(build_report(plan, artifacts=False)["steps"])
    used = plan.worst_case_buffer_size.get("l1", 0) + CLUSTER.runtime_bytes["l1"]
    estimate = round(sum(group.cycles for group in plan.tiled.groups))
    ratio = f"{moved / bound:.3f}" if bound else ""
    return (
        f"| {used:,} | {exact} of {len(steps)} | {estimate:,} | {result.counts['cycles']:,} "
        f"| {result.counts['cycles'] / max(floor, 1):.3f} | {moved:,} | {ratio} |"
    )


def bound_bytes(steps: Sequence[dict[str, Any]]) -> int:
    """What must move, step by step."""
    return sum(step.get("bound_bytes") or 0 for step in steps)


if __name__ == "__main__":
    sys.exit(main())
