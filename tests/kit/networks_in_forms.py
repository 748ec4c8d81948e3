"""Networks of a few operators, bound with kernels of values in forms: who computes what, on what. As portable C, what
these kernels compute is slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.bind import bind
from tilewright.check.stages import verify_bound
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.stored_sites import stored_operator, stored_values
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound
from tilewright.ir.plans.stored_kernel import storing
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.stored_form import Stored
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch

CHANNELS: Mapping[str, Attribute] = {"axes": (1,), "keepdims": 1}
DEAR = 1e6  # cycles: nobody wants it
_SLOW = ("Neg", "ReduceSum")


def network(*ops: str | tuple[str, Any], channels: int = 20) -> Graph:
    """Operators one after the other; of a pair the second is a constant, or "x", the input."""
    sketch = Sketch(operators=vocabulary())
    x = value = sketch.input("x", DType.F32, (1, channels, 4, 6))
    for number, entry in enumerate(ops):
        op, other = entry if isinstance(entry, tuple) else (entry, None)
        more = (
            [] if other is None else [x if isinstance(other, str) else sketch.constant(np.asarray(other, np.float32))]
        )
        value = sketch.node(op, (value, *more), CHANNELS if op == "ReduceSum" else None, name=f"{op.lower()}{number}")
    return sketch.finish(value)


def bound(graph: Graph, *kernels: Kernel, fit: bool = True, **decided: Any) -> Bound:
    operators = vocabulary()
    dear = {
        each.name: replace(each, cycles=lambda tile: DEAR) for each in portable_kernels().values() if each.op in _SLOW
    }
    offered = {**portable_kernels(), **dear, **{each.name: storing(each, operators[each.op]) for each in kernels}}
    made = {f"{each.op}@stored": stored_operator(operators[each.op]) for each in kernels}
    return verify_bound(bind(graph, CLUSTER, {**operators, **made}, offered, Decisions(**decided), chains=fit))


def ops(found: Bound) -> list[str]:
    return [node.op for node in found.graph.nodes]


def forms(found: Bound, *kernels: Kernel) -> Sequence[Stored]:
    operators = vocabulary()
    made = {f"{each.op}@stored": stored_operator(operators[each.op]) for each in kernels}
    return [value.stored for value in stored_values(found.graph, {**operators, **made}).values()]
