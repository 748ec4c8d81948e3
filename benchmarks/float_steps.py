"""Which steps of quantised networks stay float between the first QuantizeLinear and the last DequantizeLinear: one line
for each network of `tests/kit/qdq_networks.py`, or for files of ONNX.

    python benchmarks/float_steps.py [NAME|FILE.onnx ...] [--validate]

With `--validate` each is also built for this machine and judged step by step, and its outputs are compared with those
of the graph as it was imported, in float: the largest distance in steps of the output, and the share that differs.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.kit.qdq_networks import BLOCKS, PIECES, float_steps, qdq_network
from tilewright.comparison.reference import run
from tilewright.comparison.vectors import random_vectors
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Graph
from tilewright.validation.runner_choice import ready_runner
from tilewright.validation.validation import validate, vectors_of


def judged(deployment: Deployment, inputs: Mapping[str, Any]) -> str:
    """What `validate` says, and how far outputs of the integers are from those of the graph as it was imported."""
    passed = validate(deployment, ready_runner(deployment, "host"), vectors_of(deployment, None, 2)).passed
    operators = deployment.registry.operators
    inputs = inputs or random_vectors(deployment.inputs, 1, 0, deployment.graph)[0].inputs
    before = run(deployment.imported.graph, inputs, operators)
    after = run(deployment.rewritten.graph, inputs, operators)
    told = []
    for name in deployment.rewritten.graph.outputs:
        apart = np.abs(after[name].astype(np.float64) - before[name].astype(np.float64))
        step = _step(deployment.rewritten.graph, name)
        told.append(f"{apart.max() / step:.0f} steps, {np.mean(apart > step / 2):.2%}")
    return f"{'right' if passed else 'WRONG'}, {'; '.join(told)}"


def _step(graph: Graph, output: str) -> float:
    """The scale of an output that is dequantised last; 1 of any other."""
    node = graph.producer()[output]
    scale = graph.constants.get(node.inputs[1]) if node.op == "DequantizeLinear" else None
    return 1.0 if scale is None else float(scale.reshape(()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; all where none is given")
    parser.add_argument("--validate", action="store_true", help="build each, and judge it")
    arguments = parser.parse_args()
    names = arguments.names or [*PIECES, *BLOCKS]
    left = 0
    for name in names:
        model, inputs = (Path(name), {}) if name.endswith(".onnx") else qdq_network(name)
        deployment = Deployment(model, "generic")
        graph = deployment.rewritten.graph
        steps = float_steps(graph)
        left += bool(steps)
        told = ", ".join(f"{count} {op}" if count > 1 else op for op, count in Counter(steps).items())
        verdict = f"  [{judged(deployment, inputs)}]" if arguments.validate else ""
        print(f"{Path(name).stem:24} {len(steps):3} of {len(graph.nodes):3}  {told}{verdict}", flush=True)
    print(f"{left} of {len(names)} networks have float steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
