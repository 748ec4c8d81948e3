"""Runs trained networks on every emulated Cortex-M core: checks every step, counts every instruction, writes a table.
Usage: python benchmarks/cortex_m.py MODELS [--cores m4,m55] [--networks ad_int8] [--portable] [--json FILE]

MODELS is a folder of .onnx files with test vectors beside them (NAME.io.npz, keys setK/in/TENSOR). `--portable` leaves
the kernels of tilewright-cortexm out. Exit status 1 when a step is not what its reference says.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tilewright.comparison.verdicts import judge_steps
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.plugins import Registry, load_for, load_named

CORES = ("m0plus", "m3", "m4", "m7", "m33", "m55")
NETWORKS = ("kws_int8", "resnet8_int8", "vww_int8", "ad_int8", "resnet8_f32")
RUNNER = "qemu-cortex-m"


def main() -> int:
    """Every network on every core; a Markdown table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path)
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    cores, networks = arguments.cores.split(","), arguments.networks.split(",")
    result = [measured(arguments.models, name, core, arguments.portable) for name in networks for core in cores]
    sys.stdout.write("".join(f"{line}\n" for line in table(result, cores)))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return 0 if all(item["exact"] for item in result) else 1


def measured(models: Path, name: str, core: str, portable: bool) -> dict[str, Any]:
    """One network on one core: whether every step is exact, and what one inference takes."""
    target = f"cortex-{core}"
    plan = Deployment(models / f"{name}.onnx", target, registry=portable_only(load_for(target=target), portable))
    with np.load(models / f"{name}.io.npz") as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    traced, counted = (run(plan, inputs, trace=trace) for trace in (True, False))
    graph, executed = plan.scheduled.bound.graph, [step.name for step in plan.scheduled.steps]
    verdicts = judge_steps(graph, executed, plan.registry.operators, (inputs,), traced.values)
    same = all(np.array_equal(counted.outputs[0][output], traced.outputs[0][output]) for output in graph.outputs)
    steps = counted.step_counts
    return {
        "network": name,
        "core": core,
        "exact": same and len(verdicts) == len(executed) and all(verdict.exact for verdict in verdicts),
        "macs": plan.number_of_ops,
        "memory_bytes": dict(plan.worst_case_buffer_size),
        "counts": dict(counted.counts),
        "steps": {step: counts["instructions"] for step, counts in steps.items()},
    }


def portable_only(registry: Registry, portable: bool) -> Registry:
    """With `portable`, the same registry without any kernel that is for one target."""
    if not portable:
        return registry
    kept = {name: kernel for name, kernel in registry.kernels.items() if kernel.target == "*"}
    return replace(registry, kernels=MappingProxyType(kept))


def run(plan: Deployment, inputs: dict[str, Any], trace: bool) -> RunResult:
    """Build and run it in a folder of its own."""
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=trace)
    with tempfile.TemporaryDirectory() as folder:
        result: RunResult = load_named(("runner", RUNNER)).runners[RUNNER].run(job, Path(folder))
    return result


def table(result: list[dict[str, Any]], cores: list[str]) -> Iterator[str]:
    """Instructions, one line for each network, then what the largest stack and code are."""
    yield "| network | MACs | " + " | ".join(cores) + " | stack B | code B |"
    yield "|---|" + "---:|" * (len(cores) + 3)
    for name in dict.fromkeys(item["network"] for item in result):
        mine = {item["core"]: item for item in result if item["network"] == name}
        cells = [f"{mine[core]['counts']['instructions']:,}{'' if mine[core]['exact'] else ' WRONG'}" for core in cores]
        most = [max(item["counts"][what] for item in mine.values()) for what in ("stack_bytes", "code_bytes")]
        macs = mine[cores[0]]["macs"]
        yield f"| {name} | {macs:,} | " + " | ".join(cells) + f" | {most[0]:,} | {most[1]:,} |"


if __name__ == "__main__":
    sys.exit(main())
