"""Knows how far the graph that is compiled is from the graph as it was imported: what graph passes did to the outputs.
Does not know any pass, nor how anything was run on a target.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.comparison.outputs import (
    FLOAT_TOLERANCE,
    ROUNDED_SHARE,
    half_share,
    judge_values,
    rounds,
    share_of_spread,
    tolerances,
)
from tilewright.comparison.reference import run_site
from tilewright.comparison.verdicts import Drift, OutputVerdict, difference
from tilewright.ir.graphs.evaluation import allowed
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name


def drifts(imported: Graph, before: Values, after: Values) -> tuple[Drift, ...]:
    """The drift of every output of `imported`. Sums in another order, folded or fused, may round otherwise."""
    return drifts_of(imported, imported.outputs, before, after, rounds=rounds(imported))


def drifts_of(graph: Graph, names: Sequence[str], before: Values, after: Values, *, rounds: bool) -> tuple[Drift, ...]:
    """The drift of some values of `graph`; with `rounds` roundings that fall otherwise are allowed."""
    return tuple(_drift(verdict, rounds, before, after) for verdict in judge_values(graph, names, after, before))


def excused(
    drifts: Sequence[Drift], imported: Graph, compiled: Graph, before: Values, operators: Mapping[str, Operator]
) -> tuple[Drift, ...]:
    """The same drifts, all right where each piece of `compiled` makes of the imported graph's own values what that has
    made of them: then what is left of the difference is what an ill-conditioned network makes of roundings.
    """
    if all_within(drifts) or not _equal_by_pieces(imported, compiled, before, operators):
        return tuple(drifts)
    return tuple(replace(drift, within=True) for drift in drifts)


def all_within(drifts: Sequence[Drift]) -> bool:
    """Whether nothing has drifted too far."""
    return all(drift.within for drift in drifts)


def stepwise(
    drifts: Sequence[Drift], graphs: Sequence[Graph], near: Callable[[Graph, Graph], bool]
) -> tuple[Drift, ...]:
    """The same drifts, all right where one can go from the first of `graphs` to the last in steps between graphs that
    are `near` each other, each as far as it goes.
    """
    at, last = 0, len(graphs) - 1
    while at < last:
        reached = at
        while reached < last and near(graphs[at], graphs[reached + 1]):
            reached += 1
        if reached == at:
            return tuple(drifts)
        at = reached
    return tuple(replace(drift, within=True) for drift in drifts)


def guilty_pass(trail: Sequence[tuple[str, Graph]], right: Callable[[Graph], bool]) -> str:
    """The first pass of `trail` (name, graph after it) whose graph is not `right`; "" where there is none."""
    return next((name for name, graph in trail if not right(graph)), "")


def _equal_by_pieces(imported: Graph, compiled: Graph, before: Values, operators: Mapping[str, Operator]) -> bool:
    """Whether every value that both graphs have by name and in one form is the same, each worked out from those before
    it as the imported graph has them, and all outputs are among them.
    """
    shared = {
        name
        for name, tensor in compiled.tensors.items()
        if (other := imported.tensors.get(name)) and (other.dtype, other.shape) == (tensor.dtype, tensor.shape)
    }
    return shared.issuperset(imported.outputs) and all(
        _piece_by_piece(compiled, values, shared, operators) for values in before
    )


def _piece_by_piece(
    graph: Graph, known: Mapping[str, Array], shared: Collection[str], operators: Mapping[str, Operator]
) -> bool:
    import numpy as np

    share = max(FLOAT_TOLERANCE, half_share(graph))
    values = {**graph.constants, **{name: known[name] for name in graph.inputs if name in known}}
    for site in graph.sites():
        arrays = tuple(values[name] if name else None for name in site.node.inputs)
        computed = run_site(site, arrays, operators)
        limits = allowed(operators[site.node.op], site, arrays)
        for name, array, limit in zip(site.node.outputs, computed, limits, strict=True):
            values[name] = array
            if name in shared and name in known:
                slack = tolerances(graph.tensors[name].dtype, known[name], share) + np.asarray(
                    0 if limit is None else limit, np.float64
                )
                if (difference(array, known[name]) > slack).any():
                    return False
                values[name] = known[name]
    return True


def _drift(verdict: OutputVerdict, may_round: bool, before: Values, after: Values) -> Drift:
    share = share_of_spread(verdict.name, after, before)
    return Drift(verdict=verdict, share=share, within=verdict.within or (may_round and share <= ROUNDED_SHARE))
