"""Knows how one value of a graph is computed in rational arithmetic from values that are known. Does not know why.

It goes back from the value to what is known, and computes no more than that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.operators import exact_result, quotient
from tilewright.comparison.exact.rationals import NotExact, Rationals, rationals
from tilewright.comparison.exact.rounding import nearest
from tilewright.ir.graphs.graph import Graph, Site
from tilewright.ir.graphs.operator import Operator

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]

MOST_PRODUCTS = 3_000_000_000  # some seconds
MOST_ELEMENTS = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Exactly:
    """A value without any rounding but the model's own; `before` is what its last node rounds, where it does so: the
    quotient by the scale, without the zero point.
    """

    value: Rationals
    before: Rationals | None
    ties: npt.NDArray[np.bool_] | None  # elements of `before` that lie half-way between two integers

    def number_before(self, index: tuple[int, ...]) -> Fraction | None:
        """One element of `before`."""
        return None if self.before is None else self.before.at(index)


def piece(graph: Graph, name: str, known: Collection[str]) -> tuple[Site, ...]:
    """The nodes between what is known and the value, in order. Inputs and constants of the graph are always known."""
    ends = {*known, *graph.inputs, *graph.constants} - {name}
    wanted = {name}
    sites: list[Site] = []
    for site in reversed(tuple(graph.sites())):
        if wanted.isdisjoint(site.node.outputs):
            continue
        sites.append(site)
        wanted.update(each for each in site.node.inputs if each and each not in ends)
    return tuple(reversed(sites))


def demand_feasible(sites: Collection[Site], operators: Mapping[str, Operator]) -> None:
    """NotExact where rational arithmetic would take more than some seconds."""
    products = sum(operators[site.node.op].macs(site) for site in sites)
    elements = sum(tensor.elements for site in sites for tensor in site.outputs)
    if products > MOST_PRODUCTS or elements > MOST_ELEMENTS:
        raise NotExact(f"it takes {products:,} products and {elements:,} elements of rational arithmetic")


def exactly(
    sites: Sequence[Site], known: Mapping[str, Array], constants: Mapping[str, Array], operators: Mapping[str, Operator]
) -> Exactly:
    """The output of the last of `sites`, which `piece` gave. NotExact with the node where that is not possible."""
    values: dict[str, Rationals] = {}
    for site in sites:
        try:
            for name in site.node.inputs:
                if name and name not in values:
                    values[name] = rationals(known[name] if name in known else constants[name])
            operands = [values[name] if name else None for name in site.node.inputs]
            values[site.node.outputs[0]] = exact_result(site, operands, operators)
        except NotExact as reason:
            raise NotExact(f"node '{site.node.name}' ({site.node.op}): {reason}") from None
    if not sites:
        raise NotExact("no node computes it")
    last = sites[-1]
    value = values[last.node.outputs[0]]
    if last.node.op != "QuantizeLinear":
        return Exactly(value=value, before=None, ties=None)
    before = quotient(last, [values[name] for name in last.node.inputs if name])
    return Exactly(value=value, before=before, ties=nearest(before)[1])
