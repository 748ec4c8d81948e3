"""Computes networks that nobody has seen row by row, and compares what is written with references.
Usage: python benchmarks/random_rows.py [--target generic] [--kinds cnn,branched] [--seeds 0:60] [--optimize ram]
       [--recompute 1.0] [--io pool] [--outputs pool] [--share 1.0]

The networks are those of `tilewright.testing.random_networks`, in QDQ form, for every kind and seed; on this machine
they run under sanitizers, on Cortex-M under QEMU. Inputs live in the plan, are the caller's (`--io user`) or arrive in
rows (`--io push`); outputs may be taken in rows (`--outputs pull`). With `--share` the limit is such a share of what
rows take, where it can be kept: then steps have kernels of less scratch. A line for each kind: networks, how many have
steps by rows, and such of which columns pass from stripe to stripe, bytes of memory layer by layer and by rows, summed.
Exit status 1 when something that is written is not what its reference says, a plan takes more memory than layer by
layer, or a bound is over what its plan takes; what is wrong is listed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tilewright.config.io_rows import passing
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.plan.planner import ram_bytes
from tilewright.plugins import Registry, load_for, load_named
from tilewright.rewrite import rewrite
from tilewright.rewrite.row_ports import with_row_ports
from tilewright.testing.random_networks import random_network
from tilewright.testing.side_by_side import SideBySide

KINDS = ("cnn", "mobile", "sequence", "branched", "bottleneck")


class Outcome(NamedTuple):
    """Of one network."""

    steps_by_rows: int
    layers_bytes: int
    rows_bytes: int
    faults: tuple[str, ...]
    steps_with_edges: int  # of which columns pass from one stripe to the next


def main() -> int:
    """Everything that was asked for; a Markdown table on stdout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="generic")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--seeds", default="0:75", help="first and one behind the last")
    parser.add_argument("--optimize", default="ram", choices=("ram", "balanced", "speed"))
    parser.add_argument("--recompute", type=float, default=1.0, help="times the products, at most")
    parser.add_argument("--io", default="pool", choices=("pool", "user", "push"), help="where inputs live")
    parser.add_argument("--outputs", default="pool", choices=("pool", "user", "pull"), help="where outputs live")
    parser.add_argument("--share", type=float, default=1.0, help="of what rows take, as a limit")
    asked = parser.parse_args()
    ends = {"io_inputs": asked.io, "io_outputs": asked.outputs}
    options = Options(optimize=asked.optimize, recompute=asked.recompute, **ends)
    registry, faults = load_for(target=asked.target), list[str]()
    sys.stdout.write("| kind | target | networks | with rows | with kept edges | layers, B | rows, B |\n")
    sys.stdout.write("|---|---|" + "---:|" * 5 + "\n")
    for kind in asked.kinds.split(","):
        found = [
            judged(kind, seed, asked.target, options, registry, asked.share)
            for seed in range(*map(int, asked.seeds.split(":")))
        ]
        faults.extend(fault for one in found for fault in one.faults)
        sums = f"{sum(one.layers_bytes for one in found):,} | {sum(one.rows_bytes for one in found):,}"
        some = sum(one.steps_by_rows > 0 for one in found)
        kept = sum(one.steps_with_edges > 0 for one in found)
        sys.stdout.write(f"| {kind} | {asked.target} | {len(found)} | {some} | {kept} | {sums} |\n")
        sys.stdout.flush()
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return 1 if faults else 0


def judged(kind: str, seed: int, target: str, options: Options, registry: Registry, share: float = 1.0) -> Outcome:
    """One network: planned both ways, run by rows, and everything that is wrong with that."""
    network = random_network(kind, seed, registry.operators)
    lowered = rewrite(network.graph, registry.operators, tuple(registry.graph_passes.values())).graph
    alone = SideBySide(graph=with_row_ports(lowered, passing(options, lowered)), feeds=network.feeds)
    whole = replace(options, tiler="whole", optimize="speed", recompute=1.0)
    layers = alone.deployment(target, whole, registry=registry)
    rows = alone.deployment(target, options, registry=registry)
    rows = rows if share == 1.0 else limited(alone, rows, options, share)
    name = rows.platform.runners[0]
    runner = load_named(("runner", name)).runners[name]
    with tempfile.TemporaryDirectory() as folder:
        traced = alone.run(rows, runner, Path(folder), trace=True, sanitize=name == "host")
    sizes = [ram_bytes(one.allocated) for one in (layers, rows)]
    faults = [f"{one.name} differs in {one.different}" for one in alone.judge(rows, traced) if not one.exact]
    faults.extend([f"{sizes[1]} B by rows, {sizes[0]} B layer by layer"] if sizes[1] > sizes[0] else [])
    over = [pool for one in (layers, rows) for pool in one.allocated.pools if pool.lower_bound_bytes > pool.used_bytes]
    faults.extend(f"a bound of {pool.lower_bound_bytes} B over {pool.used_bytes} B" for pool in over)
    orders = [region.rows for region in rows.allocated.tiled.regions if region.rows]
    return Outcome(
        steps_by_rows=sum(len(order.loops) for order in orders),
        steps_with_edges=sum(edge > 0 for order in orders if order.stripes for edge in order.stripes.edges),
        layers_bytes=sizes[0],
        rows_bytes=sizes[1],
        faults=tuple(f"{kind} {seed} {target}: {fault}" for fault in faults),
    )


def limited(alone: SideBySide, rows: Deployment, options: Options, share: float) -> Deployment:
    """The network in such a share of the memory; `rows` where it does not fit."""
    limits = {rows.platform.of_kind("ram")[0].name: int(share * ram_bytes(rows.allocated))}
    found = alone.deployment(rows.platform.name, replace(options, optimize="speed", memory=limits), rows.registry)
    try:
        return found if found.allocated else rows
    except TilewrightError as error:
        if error.exit_code != Exit.DOES_NOT_FIT:
            raise
        return rows


if __name__ == "__main__":
    sys.exit(main())
