"""Knows how to bring one operator, or a chain of them, to the `tile` stage on any platform, from arrays.
Does not know any operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tilewright.bind import bind
from tilewright.builtin import tilewright_kernels, tilewright_operators
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Bound, Scheduled
from tilewright.schedule import schedule
from tilewright.testing.operator_sites import site_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@cache
def vocabulary() -> Mapping[str, Operator]:
    """Every operator of the core."""
    return {operator.name: operator for operator in tilewright_operators()}


@cache
def portable_kernels() -> Mapping[str, Kernel]:
    """Every kernel of the core."""
    return {kernel.name: kernel for kernel in tilewright_kernels()}


def one_step(
    op: str,
    inputs: Sequence[Array | None],
    platform: Platform,
    attributes: Mapping[str, Attribute] | None = None,
    constants: Sequence[int] = (),
    kernels: Mapping[str, Kernel] | None = None,
    decisions: Decisions | None = None,
) -> Scheduled:
    """A graph of one node over these inputs, scheduled. `constants` are positions known at compile time."""
    site = site_of(vocabulary()[op], inputs, attributes, constants)
    known = {tensor.name: tensor for tensor in (*site.inputs, *site.outputs) if tensor is not None}
    graph = Graph(
        name="one",
        inputs=tuple(name for name in known if name.startswith("in") and name not in site.constants),
        outputs=site.node.outputs,
        nodes=(site.node,),
        tensors=known,
        constants=site.constants,
    )
    chosen = decisions or Decisions()
    offered = portable_kernels() if kernels is None else kernels
    return schedule(bind(graph, platform, vocabulary(), offered, chosen), vocabulary(), chosen)


def with_kernel(bound: Bound, node: str, **changes: Any) -> Bound:
    """The same with fields of a node's kernel changed."""
    layer = replace(bound.layers[node], kernel=replace(bound.layers[node].kernel, **changes))
    binding = replace(bound.bindings[node], kernel=layer.kernel)
    return replace(bound, bindings={**bound.bindings, node: binding}, layers={**bound.layers, node: layer})
