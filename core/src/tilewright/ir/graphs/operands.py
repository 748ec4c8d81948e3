"""Knows how an operator's operands are named, and where a kernel's come from: tensors and packed constants.
Does not know which kernel packs what (`layer`), nor where any of them is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.operator import Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class OperandSource:
    """Where an input operand comes from: a tensor of the graph, or, with `tensor` empty, a packed constant."""

    operand: str
    tensor: str


def input_names(operator: Operator, site: Site) -> tuple[str, ...]:
    """Operand names of the node's inputs; a trailing "..." is spelled out as X0, X1, ... ."""
    if operator.inputs[-1:] == ("...",):
        return tuple(f"{operator.inputs[-2]}{index}" for index in range(len(site.inputs)))
    return operator.inputs[: len(site.inputs)]
