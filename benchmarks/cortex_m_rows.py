"""Runs trained networks on emulated Cortex-M cores layer by layer and row by row: checks, counts, writes a table.
Usage: python benchmarks/cortex_m_rows.py MODELS [--cores m4,m55] [--networks kws_int8] [--optimize ram] [--io pool]
       [--memory BYTES]

MODELS is a folder of .onnx files with test vectors beside them (NAME.io.npz, keys setK/in/TENSOR). Bytes of RAM are all
that the plan takes. Exit status 1 when something that is written is not what its reference says.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from cortex_m import run

from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.plan.proposals.planner import ram_bytes

CORES = ("m4", "m55")
NETWORKS = ("resnet8_int8", "kws_int8", "vww_int8")
_HEAD = ("network", "target", "layers: RAM", "by rows: RAM", "layers: instructions", "by rows: instructions", "ratio")


def main() -> int:
    """Every network on every core; a Markdown table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--optimize", default="ram", choices=("ram", "balanced", "speed"))
    parser.add_argument("--io", default="pool", choices=("pool", "user", "push"), help="where inputs live, by rows")
    parser.add_argument("--memory", type=int, help="bytes of RAM that there are, by rows")
    arguments, wrong = parser.parse_args(), 0
    limits = {"ram": arguments.memory} if arguments.memory else {}
    by_rows = Options(optimize=arguments.optimize, io_inputs=arguments.io, memory=limits)
    sys.stdout.write(f"| {' | '.join(_HEAD)} |\n|---|---|{'---:|' * 5}\n")
    for name in arguments.networks.split(","):
        for core in arguments.cores.split(","):
            layers = measured(arguments.models, name, f"cortex-{core}", Options(tiler="whole"))
            rows = measured(arguments.models, name, f"cortex-{core}", by_rows)
            wrong += layers[2] + rows[2]
            numbers = f"{layers[0]:,} | {rows[0]:,} | {layers[1]:,} | {rows[1]:,} | {rows[1] / layers[1]:.2f}"
            sys.stdout.write(f"| {name} | cortex-{core} | {numbers} |\n")
            sys.stdout.flush()
    return 1 if wrong else 0


def measured(models: Path, name: str, target: str, options: Options) -> tuple[int, int, int]:
    """Bytes of RAM, instructions of one inference, and how many of the values that are written differ."""
    plan = Deployment(models / f"{name}.onnx", target, options)
    with np.load(models / f"{name}.io.npz") as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    traced, counted = (run(plan, inputs, trace=trace) for trace in (True, False))
    graph, executed = plan.scheduled.bound.graph, [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(graph, executed, plan.registry.operators, (inputs,), traced.values)
    different = sum(not verdict.exact for verdict in verdicts)
    return ram_bytes(plan.allocated), counted.counts["instructions"], different


if __name__ == "__main__":
    sys.exit(main())
