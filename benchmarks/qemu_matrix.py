"""The networks it is given, tiled for Siracusa and run on QEMU as nine harts, at every size of the scratchpad.

    python benchmarks/qemu_matrix.py [--sizes 256,64,16] [--networks kws_int8,...] [--homes l2,l3] [--groups 1]

Without networks: the trained ones beside the checkout. Every step whose values exist whole is compared with its exact
reference (with --groups 1 that is all of them), and every program runs three times: harts one after the other in both
orders, and all at once. QEMU has no Xpulp: kernels run in their portable form. Instructions are those of the busiest
core, and of the whole team; stack is the most that any hart used. A line says what does not fit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job, RunResult
from tilewright_riscv.runners import qemu_tools
from tilewright_riscv.runners.qemu import QemuRiscvRunner

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
SIZES = (256, 64, 32, 16, 8)
BUILDERS = {"": None, "gcc": qemu_tools.gcc(), "zig": qemu_tools.zig()}
HEAD = (
    "| network | home | L1, KiB | buffers | L1 used, B | steps exact | instructions, busiest core | all cores "
    "| stack, B |\n|---|---|---:|---|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True)
class Point:
    """One cell of the matrix."""

    model: Path
    home: str
    near_kib: int
    buffering: Any


def main() -> int:
    """Print the table; 1 when a step is not exact or a network does not fit."""
    arguments = parsed()
    runner = QemuRiscvRunner(builder=BUILDERS[arguments.builder])
    wrong = 0
    print(HEAD, flush=True)
    for point in points(arguments):
        start = time.perf_counter()
        try:
            line, exact = measured(point, arguments, runner)
        except TilewrightError as error:
            line, exact = f"| {error.code} {error.message[:90]} |", False
        wrong += not exact
        print(f"| {point.model.stem} | {point.home} | {point.near_kib} | {point.buffering} {line}", flush=True)
        print(f"{time.perf_counter() - start:.1f} s", file=sys.stderr)
    return int(wrong > 0)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--networks", default="")
    parser.add_argument("--buffering", default="single,double")
    parser.add_argument("--homes", default="l2,l3")
    parser.add_argument("--groups", type=int, help="longest chain of steps joined in L1; 1: layer by layer")
    parser.add_argument("--builder", default="", choices=tuple(BUILDERS))
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    return parser.parse_args()


def points(arguments: argparse.Namespace) -> Iterator[Point]:
    """The matrix, network by network."""
    wanted = arguments.networks.split(",") if arguments.networks else []
    models = [MODELS / f"{name}.onnx" for name in wanted] or sorted(MODELS.glob("*.onnx"))
    for model in models:
        for home in arguments.homes.split(","):
            for size in map(int, arguments.sizes.split(",")):
                for buffering in arguments.buffering.split(","):
                    yield Point(model, home, size, buffering)


def measured(point: Point, arguments: argparse.Namespace, runner: QemuRiscvRunner) -> tuple[str, bool]:
    """The rest of the line, and whether every step is exact."""
    options = Options(
        memory={"l1": point.near_kib << 10},
        buffering=point.buffering,
        groups=arguments.groups,
        settings={"home": point.home, **dict(setting.split("=") for setting in arguments.settings)},
    )
    plan = Deployment(point.model, "siracusa", options)
    inputs = tuple(vector.inputs for vector in random_vectors(plan.inputs, 1, 0))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=inputs, trace=True)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        result = runner.run(job, Path(folder))
    verdicts = judge_steps(
        plan.scheduled.bound.graph,
        [step.name for step in plan.scheduled.steps],
        plan.registry.operators,
        inputs,
        result.values,
    )
    exact = sum(verdict.exact for verdict in verdicts)
    return described(plan, result, exact, len(verdicts)), exact == len(verdicts)


def described(plan: Deployment, result: RunResult, exact: int, judged: int) -> str:
    """The figures of one run. The busiest core: of each step, summed over the steps, as barriers make it."""
    busiest = sum(
        max(count for name, count in counts.items() if name.startswith("instructions.core"))
        for counts in result.step_counts.values()
    )
    used = plan.worst_case_buffer_size.get("l1", 0) + plan.platform.runtime_bytes["l1"]
    return (
        f"| {used:,} | {exact} of {judged} | {busiest:,} | {result.counts['instructions']:,} "
        f"| {result.counts['stack_bytes']:,} |"
    )


if __name__ == "__main__":
    sys.exit(main())
