"""Which steps of quantised networks stay float between the first QuantizeLinear and the last DequantizeLinear: one line
for each network of `tests/kit/qdq_networks.py`.

    python benchmarks/float_steps.py [NAME ...]

"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections import Counter

from tests.kit.qdq_networks import BLOCKS, PIECES, qdq_network
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType


def float_steps(graph: Graph) -> tuple[str, ...]:
    """The operators that read or write float32, but for a Q of a graph input and a DQ that writes a graph output."""
    return tuple(node.op for node in graph.nodes if _is_float(graph, node.op, node.inputs, node.outputs))


def _is_float(graph: Graph, op: str, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> bool:
    if op == "QuantizeLinear" and inputs[0] in graph.inputs:
        return False
    if op == "DequantizeLinear" and outputs[0] in graph.outputs:
        return False
    computed = [name for name in (*inputs, *outputs) if name and name not in graph.constants]
    return any(graph.tensors[name].dtype is DType.F32 for name in computed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="networks; all where none is given")
    names = parser.parse_args().names or [*PIECES, *BLOCKS]
    left = 0
    for name in names:
        model, _ = qdq_network(name)
        graph = Deployment(model, "generic").rewritten.graph
        steps = float_steps(graph)
        left += bool(steps)
        told = ", ".join(f"{count} {op}" if count > 1 else op for op, count in Counter(steps).items())
        print(f"{name:24} {len(steps):3} of {len(graph.nodes):3}  {told}", flush=True)
    print(f"{left} of {len(names)} networks have float steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
