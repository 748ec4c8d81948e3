"""Knows what a graph pass must keep on a graph, and how each is tried: the graph that it is given stays as it is, asked
twice it answers the same, and what it answers is sound and computes the same. Does not know any pass.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import GraphPass, Operator, Target
from tilewright.ir.plugin_contract import place_of
from tilewright.rewrite.pipeline import rewrite
from tilewright.testing.sample_faults import failure_in_package

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def pass_faults(
    graph_pass: GraphPass,
    graph: Graph,
    operators: Mapping[str, Operator],
    feeds: Mapping[str, Array],
    platform: Target | None = None,
) -> list[str]:
    """What is wrong with a pass on a graph, empty when right. `feeds` are values for the graph's inputs.

    Integers must be equal, floats about so: how far a pass may move them is for `validate` to say.
    """
    who = f"graph pass '{graph_pass.name}' ({_function(graph_pass)})"
    before = _print(graph)
    answers = []
    for _ in range(2):
        try:
            answers.append(rewrite(graph, operators, (graph_pass,), platform).graph)
        except TilewrightError as error:
            return [f"{who}: {error.message}: {'; '.join(error.details)}"]
        except Exception as error:  # whatever a function of a package raises
            return [f"{who} fails: {failure_in_package(error)}"]
        if _print(graph) != before:
            return [f"{who} changes the graph that it is given: a pass returns another one"]
    if _print(answers[0]) != _print(answers[1]):
        return [f"{who} answers something else when it is asked again: a pass may depend on the graph only"]
    if graph_pass.lossy:
        return []
    return [f"{who}: {fault}" for fault in _moved(graph, answers[0], operators, feeds)]


def _function(graph_pass: GraphPass) -> str:
    """What it calls, and where that stands."""
    name, place = getattr(graph_pass.apply, "__name__", ""), place_of(graph_pass.apply)
    return " at ".join(filter(None, (name, place))) or "of no function of Python"


def _moved(before: Graph, after: Graph, operators: Mapping[str, Operator], feeds: Mapping[str, Array]) -> list[str]:
    import numpy as np

    first, second = (run(graph, feeds, operators) for graph in (before, after))
    faults = []
    for name in before.outputs:
        left, right = np.asarray(first[name]), np.asarray(second[name])
        exact = left.dtype.kind in "iub"
        same = (
            np.array_equal(left, right)
            if exact
            else bool(np.allclose(left, right, rtol=1e-3, atol=1e-5, equal_nan=True))
        )
        if not same:
            faults.append(f"output '{name}' is another one, and the pass does not say that it is `lossy`")
    return faults


def _print(graph: Graph) -> str:
    """A digest of everything in a graph."""
    digest = hashlib.sha256(
        repr((graph.name, graph.inputs, graph.outputs, graph.nodes, sorted(graph.tensors.items()))).encode()
    )
    for name, array in sorted(graph.constants.items()):
        digest.update(repr((name, array.dtype.str, array.shape)).encode() + array.tobytes())
    return digest.hexdigest()
