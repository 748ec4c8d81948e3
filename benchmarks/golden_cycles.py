"""What one inference of somebody's networks takes, and whether the outputs are those that they must have.

    python benchmarks/golden_cycles.py CASES [NAME ...] [--target siracusa] [--memory l1=65536] [--set NAME=VALUE]
    python benchmarks/golden_cycles.py CASES [NAME ...] --target cortex-m4 [--portable]

CASES is a folder of cases as `golden_cases.py` has them, such as the tests in a checkout of the peer, whose licence
keeps them out of this repository: they are read where they are. A NAME is the folder of a case within it. Whole numbers
must be equal: a network that is not exact ends this with 1.

`siracusa` and `snitch` are cycles on GVSoC (in GVSOC_INSTALL_DIR or on PATH), by the clusters' timer; *the peer* is
what Deeploy's authors publish of the same network. Cortex-M are instructions that QEMU executes; `--portable` leaves
the kernels of the target's package out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import golden_cases
from golden_cases import Case

from tilewright.api import TilewrightError
from tilewright.api.deployment import Deployment
from tilewright.api.runner import Job, Runner, RunResult
from tilewright.plugins import load_named
from tilewright.report.steps import work
from tilewright.tile.measure import step_costs

LLAMA = "Models/microLlama/INT8"
NETWORKS = (
    "Models/MLPerf/KeywordSpotting",
    "Models/MLPerf/VisualWakeWords",
    "Models/MLPerf/ImageClassification",
    "Models/MLPerf/AnomalyDetection",
    "Models/CCT/Int/ICCT",
    "Models/CCT/Int/ICCT_8",
    "Models/CCT/FP32/CCT_1_16_16_8",
    f"{LLAMA}/microLlama1",
    f"{LLAMA}/microLlama64",
    f"{LLAMA}/microLlama128",
)
PUBLISHED = {  # cycles on eight cores, from docs/tutorials/introduction.md of Deeploy at bf64cfae: there are no others
    f"{LLAMA}/microLlama64": "857,000",  # with N-EUREKA, which it says gains 1.04
    f"{LLAMA}/microLlama64_parallel": "35,300,000",  # with 64,000 B of L1
    f"{LLAMA}/microLlama128": "3,100,000",  # without tiles, all in L2
}
MACHINES = {  # of each cluster: settings, and the memory that kernels read
    "siracusa": ([("home", "l2")], [("l1", "65536")]),
    "snitch": ([], [("tcdm", "131072")]),
}
CYCLES_HEAD = (
    "| network | steps | MACs | estimate | measured | run / estimate | MAC/cycle | outputs | the peer |\n"
    "|---|---:|---:|---:|---:|---:|---:|---|---|"
)
INSTRUCTIONS_HEAD = (
    "| network | target | kernels | MACs | instructions | each MAC | outputs |\n|---|---|---|---:|---:|---:|---|"
)


def main(words: argparse.Namespace) -> int:
    """Print the table; 1 where a network is refused or not exact."""
    name = "gvsoc" if words.target in MACHINES else "qemu-cortex-m"
    runner = load_named(("runner", name)).runners[name]
    if missing := runner.available():
        sys.exit(missing)
    print(CYCLES_HEAD if words.target in MACHINES else INSTRUCTIONS_HEAD, flush=True)
    failed = 0
    for name in words.names or NETWORKS:
        try:
            cells, right = row(Case(name, words.folder / name), words, runner)
        except TilewrightError as error:
            cells, right = f"{error.code} {error.message[:90]}", False
        failed += not right
        print(f"| {name.removeprefix('Models/')} | {cells} |", flush=True)
    return int(failed > 0)


def row(case: Case, words: argparse.Namespace, runner: Runner) -> tuple[str, bool]:
    """A network's cells behind its name, and whether its outputs are right."""
    arrays = case.arrays("inputs.npz")
    made = golden_cases.deployed(case, arrays, words)
    inputs = golden_cases.given_arrays(made.rewritten.graph, arrays)
    job = Job(artifact=made.artifact, plan=made.allocated, prefix=made.prefix, input_sets=(inputs,))
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        result = runner.run(job, Path(folder))
    outputs = {name: result.outputs[0][name] for name in made.outputs}
    wrong = golden_cases.differences(outputs, case.arrays("outputs.npz"))
    whole = all(array.dtype.kind in "iu" for array in outputs.values())
    verdict = "; ".join(wrong) or ("equal" if whole else "within 1e-4")
    if words.target in MACHINES:
        return f"{cycles_of(made, result)} | {verdict} | {PUBLISHED.get(case.name, '-')}", not wrong
    count, macs = result.counts["instructions"], macs_of(made)
    kernels = "portable" if words.portable else "all"
    return f"{words.target} | {kernels} | {macs:,} | {count:,} | {count / max(macs, 1):.2f} | {verdict}", not wrong


def macs_of(made: Deployment) -> int:
    """Of one inference."""
    operators = made.registry.operators
    return sum(operators[site.node.op].macs(site) for site in made.scheduled.bound.graph.sites())


def cycles_of(made: Deployment, result: RunResult) -> str:
    """The cells that count."""
    operators, macs = made.registry.operators, macs_of(made)
    costs = step_costs(made.tiled, operators, made.allocated.decisions)
    steps = [(name, group) for group in made.tiled.groups for name in group.steps]
    estimate = sum(work(name, group, costs[name])["cycles"]["total"] for name, group in steps)
    cycles = result.counts["cycles"]
    return (
        f"{len(made.scheduled.steps)} | {macs:,} | {estimate:,.0f} | {cycles:,} | {cycles / estimate:.2f} "
        f"| {macs / cycles:.1f}"
    )


def parsed() -> argparse.Namespace:
    """The command line, with what `golden_cases.deployed` asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="CASES")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--target", default="siracusa")
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--memory", type=golden_cases.pair, action="append", default=[], metavar="NAME=BYTES")
    parser.add_argument("--set", type=golden_cases.pair, action="append", default=[], metavar="NAME=VALUE")
    words = parser.parse_args()
    settings, memory = MACHINES.get(words.target, ([], []))
    words.set, words.memory = [*settings, *words.set], [*memory, *words.memory]
    return words


if __name__ == "__main__":
    sys.exit(main(parsed()))
