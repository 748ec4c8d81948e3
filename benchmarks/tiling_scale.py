"""CPU seconds of whole compilations of longer and longer stacks of transformer blocks.

    python benchmarks/tiling_scale.py [--target siracusa] [--memory l1=65536,...] [--nodes 50,100,200,280,400]

Everything from the ONNX bytes to the files in memory. Each length is compiled once, in a process of its own. The
memory of the weights is made large enough for all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

LENGTHS = (50, 100, 200, 280, 400)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="siracusa")
    parser.add_argument("--memory", default="l1=65536,weights=16777216")
    parser.add_argument("--nodes", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(measured(arguments.target, arguments.memory, arguments.one))
        return 0
    print("| ONNX nodes | steps | CPU s | CPU s of tiling and placing | ms a node |\n|---:|---:|---:|---:|---:|")
    for nodes in map(int, arguments.nodes.split(",")):
        words = ["--target", arguments.target, "--memory", arguments.memory, "--one", str(nodes)]
        subprocess.run([sys.executable, str(Path(__file__)), *words], check=True)
    return 0


def measured(target: str, memory: str, nodes: int) -> str:
    """One line of the table."""
    from transformer import NODES_PER_BLOCK, stack

    from tilewright.config.options import Options
    from tilewright.deployment import Deployment

    count = max(1, round(nodes / NODES_PER_BLOCK)) * NODES_PER_BLOCK
    sizes = {name: int(size) for name, size in (pair.split("=") for pair in memory.split(","))}
    model = stack(nodes)
    start = time.process_time()
    deployment = Deployment(model, target, Options(name="stack", memory=sizes))
    _ = deployment.bound  # what comes before planning
    before = time.process_time()
    _ = deployment.allocated
    planned = time.process_time()
    _ = deployment.artifact
    spent = time.process_time() - start
    steps = len(deployment.scheduled.steps)
    return f"| {count} | {steps} | {spent:.2f} | {planned - before:.2f} | {1000 * spent / count:.1f} |"


if __name__ == "__main__":
    raise SystemExit(main())
