"""Knows how far the outputs of a network may be from the reference where every step is right, step by step.
Does not know what was run.

A bound is right for every program. Operators of which nothing is proved (`carried_errors`) end it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.ir.graphs.carried_errors import carried, own_limits
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Doubles = npt.NDArray[np.float64]


def bounds(graph: Graph, known: Sequence[Mapping[str, Array]], operators: Mapping[str, Operator]) -> dict[str, float]:
    """By output the largest difference over all sets; those of which nothing can be proved are left out. `known`: every
    value of the graph by the reference, of each set.
    """
    import numpy as np

    of_sets = [_limits(graph, values, operators) for values in known]
    largest_of: dict[str, float] = {}
    for name in graph.outputs:
        arrays = [limits[name] for limits in of_sets if limits[name] is not None]
        largest = max((float(np.max(array, initial=0.0)) for array in arrays if array is not None), default=0.0)
        if len(arrays) == len(of_sets) and np.isfinite(largest):
            largest_of[name] = largest
    return largest_of


def _limits(graph: Graph, known: Mapping[str, Array], operators: Mapping[str, Operator]) -> dict[str, Doubles | None]:
    """Of every value how far it may be from its reference; None where that is not known."""
    import numpy as np

    limits: dict[str, Doubles | None] = dict.fromkeys((*graph.constants, *graph.inputs), np.zeros(()))
    for site in graph.sites():
        names, operator = site.node.inputs, operators[site.node.op]
        arrays = [known[name] if name else None for name in names]
        references = [known[name] for name in site.node.outputs]
        off = {at: limits[name] for at, name in enumerate(names) if name}
        errors = {at: error for at, error in off.items() if error is not None and error.any()}
        total = None
        if all(error is not None for error in off.values()):
            own = own_limits(operator, site, arrays)
            total = carried(operator, site, arrays, references, errors) if errors else own
        for at, name in enumerate(site.node.outputs):
            limits[name] = None if total is None else total[at]
    return limits
