"""What the tiler finds for the networks it is given, on a made-up cluster: estimates, nothing is executed.

    python benchmarks/tiling.py [NETWORK ...]

Without networks: the trained ones beside the checkout. Four tables: bytes and time layer by layer for each size of the
scratchpad; the same at 64 KiB where values stay there between the steps of longer and longer chains; the smallest
scratchpad; and the CPU seconds of tiling chains of more and more layers.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.bind import bind
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.plugins import load_for
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.tile.measure import step_costs
from tilewright.tile.strategies import TILERS
from tilewright.tile.tile import tile

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
SIZES = (256, 64, 32, 16, 8)
CHAINS = (50, 100, 200, 400)
GROUPS = (1, 2, 4, None)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK")
    networks = parser.parse_args().networks or sorted(MODELS.glob("*.onnx"))
    print("| network | L1, KiB | bytes over bound | time over larger part | cycles | CPU s of the plan |")
    print("|---|---:|---:|---:|---:|---:|")
    for network in networks:
        for size in SIZES:
            print(row(network, size << 10), flush=True)
    print("\n| network | L1, KiB | bytes over bound, chains of 1 | 2 | 4 | any | cycles of any over those of 1 |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for network in networks:
        for size in SIZES[1:4]:
            print(groups_row(network, size), flush=True)
    print("\n| network | least operand data, B | cycles there over cycles at 64 KiB | at 4,096 B | at 2,048 B |")
    print("|---|---:|---:|---:|---:|")
    for network in networks:
        print(least_row(network), flush=True)
    print("\n| layers of a chain | CPU s, 97 kinds of layers | CPU s, equal layers |\n|---:|---:|---:|")
    for length in CHAINS:
        print(
            f"| {length} | {chain_seconds(length, equal=False):.2f} | {chain_seconds(length, equal=True):.2f} |",
            flush=True,
        )
    return 0


def planned(network: Path, scratchpad_bytes: int, tiler: str = "auto", groups: int | None = 1) -> Deployment:
    """A deployment on the made-up cluster with this scratchpad, the runtime's part included; layer by layer."""
    registry = replace(load_for(target="generic", tiler=tiler), platforms={"cluster-test": cluster(scratchpad_bytes)})
    return Deployment(network, "cluster-test", Options(tiler=tiler, groups=groups), registry=registry)


def totals(deployment: Deployment) -> dict[str, float]:
    """Sums over all steps."""
    costs = step_costs(deployment.tiled, deployment.registry.operators, deployment.allocated.decisions)
    hops = [cost[-1] for cost in costs.values() if cost]
    return {
        "bytes": sum(cost.in_bytes + cost.out_bytes for cost in hops),
        "bound": sum(cost.bound_bytes for cost in hops),
        "total": sum(cost.total_cycles for cost in hops),
        "larger": sum(max(cost.compute_cycles, cost.copy_cycles) for cost in hops),
    }


def row(network: Path, scratchpad_bytes: int) -> str:
    """One line of the first table."""
    deployment = planned(network, scratchpad_bytes)
    _ = deployment.bound  # what comes before tiling is not measured
    before = time.process_time()
    _ = deployment.allocated
    spent = time.process_time() - before
    result = totals(deployment)
    cells = (
        network.stem,
        scratchpad_bytes >> 10,
        f"{result['bytes'] / result['bound']:.3f}",
        f"{result['total'] / result['larger']:.3f}",
        f"{result['total']:,.0f}",
        f"{spent:.2f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def groups_row(network: Path, near_kib: int) -> str:
    """One line of the second table."""
    result = [totals(planned(network, near_kib << 10, groups=groups)) for groups in GROUPS]
    ratios = " | ".join(f"{figures['bytes'] / result[0]['bound']:.3f}" for figures in result)
    return f"| {network.stem} | {near_kib} | {ratios} | {result[-1]['total'] / result[0]['total']:.3f} |"


def least_row(network: Path) -> str:
    """One line of the third table."""
    smallest = planned(network, 256 << 10, "min")
    operands = next(pool.used_bytes for pool in smallest.allocated.pools if pool.memory == "l1")
    reference = totals(planned(network, 64 << 10))["total"]

    def ratio(operand_bytes: int) -> str:
        try:
            return f"{totals(planned(network, operand_bytes + RUNTIME_BYTES))['total'] / reference:.2f}"
        except TilewrightError:
            return "-"

    least = align_up(operands, 8)
    return f"| {network.stem} | {least:,} | {ratio(least)} | {ratio(4096)} | {ratio(2048)} |"


def chain_seconds(length: int, *, equal: bool) -> float:
    """CPU seconds of tiling, checking included, a chain of convolutions; with `equal`, all of one shape."""
    graph = chain([16 if equal else 8 + index % 97 for index in range(length + 1)])
    platform, decisions = cluster(), Decisions()
    bound = bind(graph, platform, vocabulary(), portable_kernels(), decisions)
    scheduled = schedule(bound, vocabulary(), decisions)
    before = time.process_time()
    tile(scheduled, vocabulary(), next(tiler for tiler in TILERS if tiler.name == "cost"), decisions)
    return time.process_time() - before


def chain(channels: Sequence[int]) -> Graph:
    """Float convolutions one after the other over 16 x 16 pixels."""
    tensors: dict[str, Tensor] = {}
    constants: dict[str, Any] = {}
    nodes = []

    def tensor(name: str, shape: tuple[int, ...]) -> str:
        tensors[name] = Tensor(name=name, dtype=DType.F32, shape=shape)
        return name

    value = tensor("x0", (1, channels[0], 16, 16))
    attributes = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    for index, (inside, outside) in enumerate(pairwise(channels)):
        weights = tensor(f"w{index}", (outside, inside, 3, 3))
        constants[weights] = np.full((outside, inside, 3, 3), index, np.float32)
        result = tensor(f"x{index + 1}", (1, outside, 16, 16))
        name = f"conv{index}"
        nodes.append(Node(name=name, op="Conv", inputs=(value, weights), outputs=(result,), attributes=attributes))
        value = result
    return Graph(
        name="chain", inputs=("x0",), outputs=(value,), nodes=tuple(nodes), tensors=tensors, constants=constants
    )


if __name__ == "__main__":
    raise SystemExit(main())
