"""Knows how a function of an arithmetic changes the requantisation of a node: given its stored scales and its sums.
Does not know what an arithmetic makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.ir.graphs.arithmetic import OperatorFunction
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.quantised.qrescale import negative
from tilewright.operators.quantised.sum_ranges import BOUNDS

Requantised = Callable[[Requant, StoredScales, AccumulatorBounds], Requant | str]


def requantised(function: Requantised) -> OperatorFunction:
    """A function of an arithmetic that changes how sums are requantised, and nothing else."""

    def declared(site: Site) -> Mapping[str, Attribute] | str:
        requant = site.node.requant()
        if requant.stored is None:
            return "the scales of the file are not known here"
        result = function(requant, requant.stored, BOUNDS[site.node.op](site))
        return result if isinstance(result, str) else {"requant": result}

    return declared


def both_sides(function: Requantised) -> OperatorFunction:
    """The same for a QRescale: what is below the zero point, too, where that has a scale of its own."""

    def declared(site: Site) -> Mapping[str, Attribute] | str:
        above, below = site.node.requant(), negative(site)
        changed: dict[str, Attribute] = {}
        for name, requant in (("requant", above), ("negative", below)):
            if requant is None:
                continue
            if requant.stored is None:
                return "the scales of the file are not known here"
            result = function(requant, requant.stored, BOUNDS[site.node.op](site))
            if isinstance(result, str):
                return result
            changed[name] = result
        return changed

    return declared
