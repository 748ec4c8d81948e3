"""The networks it is given on GVSoC's models of Siracusa and Snitch: what the estimates said, and what the simulated
cores counted.

    python benchmarks/gvsoc.py [MODEL ...] [--target siracusa] [--sizes 64,16] [--homes l2,l3] [--groups 1]
                               [--set NAME=VALUE] [--steps]
    python benchmarks/gvsoc.py --kernels [--target snitch] [--judged | --others] [--only conv]

Needs GVSoC, in GVSOC_INSTALL_DIR or on PATH, and a compiler for the cluster. Without models: the trained ones beside
the checkout, or the digits of examples/. A ratio is measured over estimated cycles; the run has no hooks, the steps are
counted in another run, with barriers around each. `--steps` adds a table of the steps; steps that are tiled together
are one line. `--kernels` runs single layers side by side in one program, tile by tile as in a network, copies included.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from cortex_m_layers import Layer, conv, gemm, matmul, mean, pair, pool, softmax
from float_layers import calibrated, judged, others

from tilewright.comparison.vectors import random_vectors
from tilewright.comparison.verdicts import StepVerdict
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.report.steps import work
from tilewright.testing.side_by_side import SideBySide, side_by_side
from tilewright.tile.measure import step_costs
from tilewright_riscv.runners.gvsoc import GvsocRunner

HERE = Path(__file__).resolve()
MOST_LAYERS = {"siracusa": 10}  # in one program: its code and constants are in 2 MiB of L2
TRAINED = HERE.parents[2] / "shared" / "models"
DIGITS = HERE.parents[1] / "examples" / "digits"
NEAR = {"siracusa": "l1", "snitch": "tcdm"}  # the memory that kernels read
HOMES = {"siracusa": "l2", "snitch": "l3"}
HEAD = (
    "| network | home | near, KiB | buffers | steps | MACs | estimate | steps, measured | run, measured "
    "| run / estimate | MAC/cycle |\n|---|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
)
STEPS_HEAD = (
    "| step | kernel | MACs | tiles | compute | copies | estimate | measured | measured / estimate | MAC/cycle |\n"
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Steps that are tiled together: what was expected of them, and what they took. Cycles."""

    name: str
    kernels: str
    macs: int
    tiles: int
    compute: float
    copies: float
    estimate: float
    measured: int

    def row(self) -> str:
        """Of the table of steps."""
        return (
            f"| {self.name} | {self.kernels} | {self.macs:,} | {self.tiles} | {self.compute:,.0f} | {self.copies:,.0f} "
            f"| {self.estimate:,.0f} | {self.measured:,} | {self.measured / max(self.estimate, 1):.2f} "
            f"| {self.macs / max(self.measured, 1):.1f} |"
        )


def main() -> int:
    """Print the tables; 1 when something does not fit or does not run."""
    arguments = parsed()
    if missing := GvsocRunner().available():
        sys.exit(missing)
    if arguments.kernels:
        return kernels(arguments)
    failed = 0
    print(HEAD, flush=True)
    homes = (arguments.homes or HOMES[arguments.target]).split(",")
    for model, home, size in product(arguments.models or models(), homes, arguments.sizes.split(",")):
        begun = f"| {model.stem} | {home} | {size} | {arguments.buffering}"
        try:
            plan = Deployment(model, arguments.target, options(arguments, home=home, near_kib=float(size)))
            result = run(plan)
        except TilewrightError as error:
            failed += 1
            print(f"{begun} | {error.code} {error.message[:90]} |", flush=True)
            continue
        found = list(lines(plan, result))
        print(f"{begun} {summary(found, len(plan.scheduled.steps), result)}", flush=True)
        if arguments.steps:
            print("\n".join(("", STEPS_HEAD, *(line.row() for line in found), "")), flush=True)
    return int(failed > 0)


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--target", default="siracusa", choices=tuple(NEAR))
    parser.add_argument("--sizes", default="64", help="of the near memory, KiB")
    parser.add_argument("--homes", default="")
    parser.add_argument("--buffering", default="auto", choices=("auto", "single", "double"))
    parser.add_argument("--groups", type=int, help="longest chain of steps joined in L1; 1: layer by layer")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--judged", action="store_true", help="with --kernels: floats that no estimate was fitted to")
    parser.add_argument("--others", action="store_true", help="the same of other operators")
    parser.add_argument("--only", default="", help="with --kernels: layers whose name has it")
    return parser.parse_args()


def models() -> list[Path]:
    """The networks where none is named."""
    return sorted(TRAINED.glob("*.onnx")) or sorted(DIGITS.glob("*.onnx"))


def options(arguments: argparse.Namespace, *, home: str, near_kib: float) -> Options:
    """One point of the table."""
    chosen = {"home": home} if arguments.target == "siracusa" else {}
    settings = {**chosen, **dict(setting.split("=", 1) for setting in arguments.settings)}
    memory = {NEAR[arguments.target]: round(near_kib * 1024)}
    return Options(memory=memory, buffering=arguments.buffering, groups=arguments.groups, settings=settings)


def run(plan: Deployment) -> RunResult:
    """One inference on random inputs."""
    inputs = tuple(vector.inputs for vector in random_vectors(plan.inputs, 1, 0))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=inputs)
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        return GvsocRunner().run(job, Path(folder))


def lines(plan: Deployment, result: RunResult) -> Iterator[Line]:
    """The program's parts in the order of execution. What steps that are tiled together cost stands at one of them."""
    bound, operators = plan.scheduled.bound, plan.registry.operators
    costs = step_costs(plan.tiled, operators, plan.allocated.decisions)
    sites = {site.node.name: site for site in bound.graph.sites()}
    number = {step.name: index for index, step in enumerate(plan.scheduled.steps)}
    for group in plan.tiled.groups:
        works = [work(name, group, costs[name]) for name in group.steps]
        yield Line(
            name=" + ".join(f"{number[name]} {sites[name].node.op}" for name in group.steps),
            kernels=" + ".join(bound.bindings[name].kernel.name for name in group.steps),
            macs=sum(operators[sites[name].node.op].macs(sites[name]) for name in group.steps),
            tiles=max(part["tiles"] for part in works),
            compute=sum(part["cycles"]["compute"] for part in works),
            copies=sum(part["cycles"]["copy"] for part in works),
            estimate=sum(part["cycles"]["total"] for part in works),
            measured=sum(result.step_counts[name]["cycles"] for name in group.steps if name in result.step_counts),
        )


def summary(found: Sequence[Line], steps: int, result: RunResult) -> str:
    """The rest of a network's line."""
    estimate, macs, cycles = sum(line.estimate for line in found), sum(line.macs for line in found), result.counts
    return (
        f"| {steps} | {macs:,} | {estimate:,.0f} | {sum(line.measured for line in found):,} | {cycles['cycles']:,} "
        f"| {cycles['cycles'] / max(estimate, 1):.2f} | {macs / cycles['cycles']:.1f} |"
    )


def kernels(arguments: argparse.Namespace) -> int:
    """Single layers: every one is exact to its reference, or this ends with 1."""
    usual = layers() if arguments.target == "siracusa" else calibrated()
    cases = judged() if arguments.judged else others() if arguments.others else usual
    chosen = [case for case in cases if arguments.only in case.name]
    print(STEPS_HEAD)
    most = MOST_LAYERS.get(arguments.target, len(chosen))
    return int(sum(together(chosen[at : at + most], arguments) for at in range(0, len(chosen), most)) > 0)


def together(chosen: Sequence[Layer], arguments: argparse.Namespace) -> bool:
    """Layers in one program; whether any of them is wrong."""
    model = side_by_side([(layer.site, layer.inputs) for layer in chosen])
    arguments.groups = 1
    near_kib = float(arguments.sizes) if arguments.target == "snitch" else 256
    plan = model.deployment(arguments.target, options(arguments, home=HOMES[arguments.target], near_kib=near_kib))
    verdicts, result = judged_and_counted(model, plan)
    wrong = [name for name, verdict in verdicts.items() if not verdict.exact]
    for layer, node in zip(chosen, model.graph.nodes, strict=True):
        name = f"{layer.name}{' WRONG' if node.name in wrong else ''}"
        print(replace(result[node.name], name=name).row(), flush=True)
    return bool(wrong)


def judged_and_counted(side: SideBySide, plan: Deployment) -> tuple[dict[str, StepVerdict], dict[str, Line]]:
    """One program, run with every value written out, and counted: of each layer that has a step."""
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        traced = side.run(plan, GvsocRunner(), Path(folder) / "traced", trace=True)
        counted = side.run(plan, GvsocRunner(), Path(folder) / "counted", trace=False)
    verdicts = {verdict.name: verdict for verdict in side.judge(plan, traced)}
    return verdicts, {group.steps[0]: line for group, line in zip(plan.tiled.groups, lines(plan, counted), strict=True)}


def layers() -> Iterator[Layer]:
    """Common shapes, and some odd ones."""
    yield matmul(1, 64, 64, 64)
    yield matmul(1, 128, 128, 128)
    yield matmul(3, 17, 33, 29)
    for inside, outside, size, kernel, stride in (
        (16, 32, 16, (3, 3), 1),
        (16, 32, 16, (3, 3), 2),
        (3, 16, 32, (3, 3), 1),
        (13, 19, 15, (3, 3), 1),
        (64, 64, 16, (1, 1), 1),
        (23, 71, 16, (1, 1), 1),
    ):
        taps = "x".join(map(str, kernel))
        yield conv(
            f"conv {taps} {inside}-{outside} at {size}, stride {stride}", inside, outside, kernel, size, stride=stride
        )
    for channels, stride in ((64, 1), (64, 2), (13, 1)):
        name = f"depthwise conv 3x3 {channels} at 16, stride {stride}"
        yield conv(name, channels, channels, (3, 3), 16, stride=stride, group=channels)
    yield gemm(1, 640, 128)
    yield gemm(10, 64, 64)
    yield pair("QAdd", (1, 16, 32, 32), (1, 16, 32, 32))
    yield pool("QAveragePool", 64, 8, 8, 8, 0)
    yield pool("MaxPool", 16, 16, 2, 2, 0)
    yield mean((1, 64, 8, 8), (2, 3))
    yield softmax((32, 48))
    yield from calibrated()


if __name__ == "__main__":
    sys.exit(main())
