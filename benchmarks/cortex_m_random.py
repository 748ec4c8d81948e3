"""Compiles networks that nobody has seen for Cortex-M cores, runs them, and compares every step with its reference.
Usage: python benchmarks/cortex_m_random.py [--cores m4,m55] [--kinds cnn,attention] [--seeds 0:20] [--portable]

The networks are those of `tilewright.testing.random_networks`, in QDQ form, for every kind and seed. A line for each
kind and core: networks, steps, multiply-accumulates, instructions. Exit status 1 when a step is not what its
reference says; what is wrong is listed with its kernel.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from cortex_m_layers import RUNNER, portable_only

from tilewright.plugins import Registry, load_for, load_named
from tilewright.rewrite import rewrite
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.testing.side_by_side import SideBySide

CORES = ("m0plus", "m3", "m4", "m7", "m33", "m55")


def main() -> int:
    """Everything that was asked for; a Markdown table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seeds", default="0:10", help="first and one behind the last")
    parser.add_argument("--portable", action="store_true")
    asked = parser.parse_args()
    seeds, faults = range(*map(int, asked.seeds.split(":"))), list[str]()
    sys.stdout.write(
        "| kind | core | networks | steps | operations | instructions | for each |\n|---|---|" + "---:|" * 5
    )
    sys.stdout.write("\n")
    for kind in asked.kinds.split(","):
        for core in asked.cores.split(","):
            target = f"cortex-{core}"
            registry = portable_only(load_for(target=target), asked.portable)
            found = [measured(kind, seed, target, registry, faults) for seed in seeds]
            steps, operations, count = (sum(column) for column in zip(*found, strict=True))
            numbers = f"{len(found)} | {steps} | {operations:,} | {count:,} | {count / operations:.3f}"
            sys.stdout.write(f"| {kind} | {core} | {numbers} |\n")
            sys.stdout.flush()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


def measured(kind: str, seed: int, target: str, registry: Registry, faults: list[str]) -> tuple[int, int, int]:
    """Steps, multiply-accumulates and instructions of one network."""
    network = random_network(kind, seed, registry.operators)
    lowered = rewrite(network.graph, registry.operators, tuple(registry.graph_passes.values())).graph
    alone = SideBySide(graph=lowered, feeds=network.feeds)
    plan = alone.deployment(target, registry=registry)
    runner = load_named(("runner", RUNNER)).runners[RUNNER]
    with tempfile.TemporaryDirectory() as folder:
        traced = alone.run(plan, runner, Path(folder) / "traced", trace=True)
        counted = alone.run(plan, runner, Path(folder) / "counted", trace=False)
    for verdict in alone.judge(plan, traced):
        if not verdict.exact:
            kernel = plan.bound.bindings[verdict.name].kernel.name
            faults.append(f"{kind} {seed} {target}: {verdict.name} ({kernel}) differs in {verdict.different}")
    return len(plan.scheduled.steps), plan.number_of_ops, counted.counts["instructions"]


if __name__ == "__main__":
    sys.exit(main())
