"""Networks that nobody has seen, computed row by row; what is written is compared with references.

The networks are those of `tilewright.testing.random_networks`, in QDQ form, for every kind and seed; on this machine
they run under sanitizers, on Cortex-M under QEMU. Inputs live in the plan, are the caller's (`--io user`) or arrive in
rows (`--io push`); outputs may be taken in rows (`--outputs pull`). With `--share` the limit is such a share of what
rows take, where it can be kept: then steps have kernels of less scratch. A line of the table for each kind: networks,
how many have steps by rows, and such of which columns pass from stripe to stripe, bytes of memory layer by layer and by
rows, summed. It is wrong that something that is written is not what its reference says, that a plan takes more memory
than layer by layer, and that a bound is over what its plan takes.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

from fuzzing.frame import Fuzz, Outcome, optimize_flag
from tilewright.config.graph_io import streamed_io
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import Exit, TilewrightError
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import Registry, load_for, load_named
from tilewright.rewrite import rewrite
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.testing.random_networks import random_network
from tilewright.testing.side_by_side import SideBySide

KINDS = ("cnn", "mobile", "sequence", "branched", "bottleneck")


class Judged(NamedTuple):
    """Of one network."""

    steps_by_rows: int
    layers_bytes: int
    rows_bytes: int
    faults: tuple[str, ...]
    steps_with_edges: int  # of which columns pass from one stripe to the next


def flags(parser: argparse.ArgumentParser) -> None:
    """Which networks, where, and what is asked of their plans."""
    parser.add_argument("--target", default="generic")
    parser.add_argument("--kinds", default=",".join(KINDS))
    optimize_flag(parser, "ram")
    parser.add_argument("--recompute", type=float, default=1.0, help="times the products, at most")
    parser.add_argument("--io", default="pool", choices=("pool", "user", "push"), help="where inputs live")
    parser.add_argument("--outputs", default="pool", choices=("pool", "user", "pull"), help="where outputs live")
    parser.add_argument("--share", type=float, default=1.0, help="of what rows take, as a limit")


def outcomes(seeds: Sequence[int], arguments: argparse.Namespace, _: Path) -> Iterator[Outcome]:
    """What became of the networks of every kind."""
    ends = {"io_inputs": arguments.io, "io_outputs": arguments.outputs}
    options = Options(optimize=arguments.optimize, recompute=arguments.recompute, **ends)
    registry = load_for(target=arguments.target)
    for kind, seed in product(arguments.kinds.split(","), seeds):
        result = judged(kind, seed, arguments.target, options, registry, arguments.share)
        sums = {
            "with rows": result.steps_by_rows > 0,
            "with kept edges": result.steps_with_edges > 0,
            "layers, B": result.layers_bytes,
            "rows, B": result.rows_bytes,
        }
        wrong = "; ".join(result.faults)
        case, ended = f"{kind} {seed} {arguments.target}", "failed" if wrong else "right"
        yield Outcome(case, ended, wrong, row=f"{kind}, {arguments.target}", sums=sums)


def judged(kind: str, seed: int, target: str, options: Options, registry: Registry, share: float = 1.0) -> Judged:
    """One network: planned both ways, run by rows, and everything that is wrong with that."""
    network = random_network(kind, seed, registry.operators)
    lowered = rewrite(network.graph, registry.operators, tuple(registry.graph_passes.values())).graph
    alone = SideBySide(graph=with_streamed_io(lowered, streamed_io(options, lowered)), feeds=network.feeds)
    whole = replace(options, tiler="whole", optimize="speed", recompute=1.0)
    layers = alone.deployment(target, whole, registry=registry)
    rows = alone.deployment(target, options, registry=registry)
    rows = rows if share == 1.0 else limited(alone, rows, options, share)
    name = rows.platform.runners[0]
    runner = load_named(("runner", name)).runners[name]
    with tempfile.TemporaryDirectory() as folder:
        traced = alone.run(rows, runner, Path(folder), trace=True, sanitize=name == "host")
    sizes = [ram_bytes(deployment.allocated) for deployment in (layers, rows)]
    faults = [
        f"{verdict.name} differs in {verdict.different}" for verdict in alone.judge(rows, traced) if not verdict.exact
    ]
    faults.extend([f"{sizes[1]} B by rows, {sizes[0]} B layer by layer"] if sizes[1] > sizes[0] else [])
    over = [
        pool
        for deployment in (layers, rows)
        for pool in deployment.allocated.pools
        if pool.lower_bound_bytes > pool.used_bytes
    ]
    faults.extend(f"a bound of {pool.lower_bound_bytes} B over {pool.used_bytes} B" for pool in over)
    orders = [region.line_buffers for region in rows.allocated.tiled.regions if region.line_buffers]
    return Judged(
        steps_by_rows=sum(len(order.loops) for order in orders),
        steps_with_edges=sum(edge > 0 for order in orders if order.stripes for edge in order.stripes.edges),
        layers_bytes=sizes[0],
        rows_bytes=sizes[1],
        faults=tuple(faults),
    )


def limited(alone: SideBySide, rows: Deployment, options: Options, share: float) -> Deployment:
    """The network in such a share of the memory; `rows` where it does not fit."""
    limits = {rows.platform.of_kind("ram")[0].name: int(share * ram_bytes(rows.allocated))}
    result = alone.deployment(rows.platform.name, replace(options, optimize="speed", memory=limits), rows.registry)
    try:
        return result if result.allocated else rows
    except TilewrightError as error:
        if error.exit_code != Exit.DOES_NOT_FIT:
            raise
        return rows


FUZZ = Fuzz(about=__doc__ or "", outcomes=outcomes, flags=flags)
