"""Knows how far the graph that is compiled is from the graph as it was imported: what graph passes did to the outputs.
Does not know any pass, nor how anything was run on a target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tilewright.ir.graph import Graph
from tilewright.validate.comparison import LARGEST, Drift, OutputVerdict, judge_values

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]  # of each set of inputs, by name
ROUNDED_SHARE = 0.05  # of an output's spread: what roundings that fall otherwise may do, carried through a network
_ROUNDING = frozenset(("QuantizeLinear", "Round"))


def drifts(imported: Graph, before: Values, after: Values) -> tuple[Drift, ...]:
    """The drift of every output of `imported`. Sums in another order, folded or fused, may round otherwise."""
    rounds = any(node.op in _ROUNDING for node in imported.nodes)
    return drifts_of(imported, imported.outputs, before, after, rounds=rounds)


def drifts_of(graph: Graph, names: Sequence[str], before: Values, after: Values, *, rounds: bool) -> tuple[Drift, ...]:
    """The drift of some values of `graph`; with `rounds` roundings that fall otherwise are allowed."""
    return tuple(_drift(verdict, rounds, before, after) for verdict in judge_values(graph, names, after, before))


def guilty_pass(
    imported: Graph, trail: Sequence[tuple[str, Graph]], before: Values, run: Callable[[Graph], Values]
) -> str:
    """The first pass of `trail` (name, graph after it) that takes an output too far; "" where none does."""
    for name, graph in trail:
        if not all(one.within for one in drifts(imported, before, run(graph))):
            return name
    return ""


def _drift(verdict: OutputVerdict, rounds: bool, before: Values, after: Values) -> Drift:
    import numpy as np

    expected = np.concatenate([np.asarray(values[verdict.name], np.float64).ravel() for values in before])
    got = np.concatenate([np.asarray(values[verdict.name], np.float64).ravel() for values in after])
    share = 0.0
    if verdict.different:
        with np.errstate(all="ignore"):
            share = float(_root_mean_square(got - expected) / np.float64(expected.std()))
        share = share if share < LARGEST else LARGEST
    return Drift(verdict=verdict, share=share, within=verdict.within or (rounds and share <= ROUNDED_SHARE))


def _root_mean_square(values: npt.NDArray[np.float64]) -> float:
    import numpy as np

    return float(np.sqrt(np.mean(np.square(values))))
