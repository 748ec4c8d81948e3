"""What the tiler `cpsat` finds beside `cost` on a made-up cluster, and what it takes: estimates, nothing is executed.

    python benchmarks/cpsat.py [NETWORK ...]

Without networks: the trained ones beside the checkout. Needs tilewright-cpsat.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from tiling import MODELS, planned

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.tile.measure import step_costs

SIZES = (64, 32, 16, 8)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK")
    networks = parser.parse_args().networks or sorted(MODELS.glob("*.onnx"))
    print("| network | L1, KiB | cost: cycles | cpsat: cycles | cost: bytes | cpsat: bytes | proved | CPU s of both |")
    print("|---|---:|---:|---:|---:|---:|---|---:|")
    for network in networks:
        for size in SIZES:
            print(row(network, size << 10), flush=True)
    return 0


def row(network: Path, scratchpad_bytes: int) -> str:
    """One line."""
    try:
        (quick, quick_seconds), (joint, joint_seconds) = (
            measured(network, scratchpad_bytes, name) for name in ("cost", "cpsat")
        )
    except TilewrightError as error:
        return f"| {network.stem} | {scratchpad_bytes >> 10} | {error.code}: {error.message} |"
    cells = (
        network.stem,
        scratchpad_bytes >> 10,
        f"{cycles(quick):,.0f}",
        f"{cycles(joint):,.0f}",
        f"{moved_bytes(quick):,}",
        f"{moved_bytes(joint):,}",
        ", ".join(sorted({group.claim or "nothing" for group in joint.tiled.groups})),
        f"{quick_seconds:.1f}, {joint_seconds:.1f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def measured(network: Path, scratchpad_bytes: int, tiler: str) -> tuple[Deployment, float]:
    """A plan, and the CPU seconds of everything after `bound`."""
    deployment = planned(network, scratchpad_bytes, tiler, groups=None)
    _ = deployment.bound  # what comes before tiling is not measured
    before = time.process_time()
    _ = deployment.allocated
    return deployment, time.process_time() - before


def cycles(deployment: Deployment) -> float:
    """Estimated, of all steps."""
    return sum(group.cycles for group in deployment.tiled.groups)


def moved_bytes(deployment: Deployment) -> int:
    """Between home and scratchpad."""
    costs = step_costs(deployment.tiled, deployment.registry.operators, deployment.allocated.decisions)
    return sum(cost.in_bytes + cost.out_bytes for hops in costs.values() for cost in hops)


if __name__ == "__main__":
    raise SystemExit(main())
