"""Networks that nobody has seen, compiled for Cortex-M cores and run; every step is compared with its reference.

The networks are those of `tilewright.testing.random_networks`, in QDQ form, for every kind and seed. A line of the
table for each kind and core: networks, steps, multiply-accumulates, instructions. It is wrong that a step is not what
its reference says; what is wrong is listed with its kernel.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from cortex_m_layers import RUNNER, portable_only

from fuzzing.frame import Fuzz, Outcome
from tilewright.plugins import Registry, load_for, load_named
from tilewright.rewrite import rewrite
from tilewright.testing.random_networks import KINDS, random_network
from tilewright.testing.side_by_side import SideBySide

CORES = ("m0plus", "m3", "m4", "m7", "m33", "m55")


def flags(parser: argparse.ArgumentParser) -> None:
    """Which networks, for which cores."""
    parser.add_argument("--cores", default=",".join(CORES))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--portable", action="store_true")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """What became of the networks of every kind on every core."""
    for kind, core, seed in product(arguments.kinds.split(","), arguments.cores.split(","), seeds):
        target = f"cortex-{core}"
        registry = portable_only(load_for(target=target), arguments.portable)
        yield measured(kind, seed, target, registry, folder / f"{kind}_{core}_{seed}")


def measured(kind: str, seed: int, target: str, registry: Registry, folder: Path) -> Outcome:
    """Steps, multiply-accumulates and instructions of one network, and which steps are wrong."""
    network = random_network(kind, seed, registry.operators)
    lowered = rewrite(network.graph, registry.operators, tuple(registry.graph_passes.values())).graph
    alone = SideBySide(graph=lowered, feeds=network.feeds)
    plan = alone.deployment(target, registry=registry)
    runner = load_named(("runner", RUNNER)).runners[RUNNER]
    traced = alone.run(plan, runner, folder / "traced", trace=True)
    counted = alone.run(plan, runner, folder / "counted", trace=False)
    kernels = {name: binding.kernel.name for name, binding in plan.bound.bindings.items()}
    wrong = "; ".join(
        f"{verdict.name} ({kernels[verdict.name]}) differs in {verdict.different}"
        for verdict in alone.judge(plan, traced)
        if not verdict.exact
    )
    sums = {
        "steps": len(plan.scheduled.steps),
        "operations": plan.number_of_ops,
        "instructions": counted.counts["instructions"],
    }
    case, ended = f"{kind} {seed} {target}", "failed" if wrong else "right"
    return Outcome(case, ended, wrong, row=f"{kind}, {target}", sums=sums)


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
