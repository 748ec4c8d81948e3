"""Knows what an arithmetic is: for each integer operator, and each width of its values, the function that it computes;
and which layers of a network have which. Does not know any arithmetic, nor how a function is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tilewright.ir.graphs.graph import Attribute, Node, Site

OperatorFunction = Callable[[Site], Mapping[str, Attribute] | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """What integer operators compute. `functions` has, for an operator and the bits of its values, what makes a node
    compute this arithmetic's function: the attributes to change, or the sentence that says why it has none.

    Such a function is given a site whose node carries the scales of the file (`Requant.stored`, or attributes).
    """

    name: str  # what `--arithmetic NAME` selects
    summary: str  # one line
    functions: Mapping[tuple[str, int], OperatorFunction]

    def declared(self, site: Site) -> Mapping[str, Attribute] | str:
        """The attributes that make the node compute this arithmetic, or why it cannot."""
        bits = 8 * site.input(0).dtype.size_bytes
        function = self.functions.get((site.node.op, bits))
        return f"{self.name} has no {site.node.op} of {bits} bits" if function is None else function(site)

    def knows(self, op: str) -> bool:
        """Whether it has a function for this operator, at any width."""
        return any(name == op for name, _ in self.functions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticChoice:
    """Which layer computes what. `own` is what the model file means."""

    own: str = "onnx"
    known: Mapping[str, Arithmetic]
    rules: tuple[tuple[str, str], ...] = ()  # pattern of layers' names -> name of an arithmetic; the last counts

    def of(self, node: Node) -> Arithmetic:
        """The arithmetic of a layer, by its name or those of the nodes that it came from."""
        names = (node.name, *node.origin)
        chosen = self.own
        for pattern, name in self.rules:
            if any(each == pattern or fnmatchcase(each, pattern) for each in names):
                chosen = name
        return self.known[chosen]
