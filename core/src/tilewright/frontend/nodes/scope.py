"""Knows which values a body of the file sees, how control flow adds nodes to it, and how one of two branches is chosen
at run time. Does not know bodies (`model_walk`), nor loops (`loops`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.frontend.nodes.builder import GraphBuilder
from tilewright.frontend.reading.names import show
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Attribute, Node

AT_RUN_TIME = "its condition is computed at run time (--bind makes an input known), so both branches are computed"


@dataclass(slots=True, kw_only=True)
class Scope:
    """Values of one body: the file's name -> the graph's, or None where their node was refused."""

    outer: Scope | None = None
    prefix: str = ""  # of names of this body in the graph; "" is the main graph
    values: dict[str, str | None] = field(default_factory=dict)

    @property
    def main(self) -> bool:
        """Whether this is the model's own graph, whose names are kept."""
        return not self.prefix

    def has(self, name: str) -> bool:
        """Whether the body or one around it has the value."""
        return name in self.values or (self.outer is not None and self.outer.has(name))

    def find(self, name: str) -> str | None:
        """The graph's name of a value; `has` must hold."""
        if name in self.values or self.outer is None:
            return self.values[name]
        return self.outer.find(name)

    def results(self, names: Iterable[str]) -> list[str | None]:
        """The values that the outputs of the body are. Raises InvalidNode for an output that is never written."""
        for name in names:
            if not self.has(name):
                raise InvalidNode(f"the body never writes its output {show(name)}")
        return [self.find(name) for name in names]


def emit_in(
    scope: Scope, builder: GraphBuilder, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute]
) -> str:
    """Add a node; returns its output."""
    hint = scope.prefix + op
    output = builder.names.take(hint)
    node = Node(
        name=builder.node_names.take(hint),
        op=op,
        inputs=tuple(inputs),
        outputs=(output,),
        attributes=attributes,
        origin=(scope.prefix.rstrip("/"),),
    )
    builder.add_node(node)
    return output


def chosen_in(
    scope: Scope, builder: GraphBuilder, condition: str, results: Sequence[Sequence[str | None]]
) -> list[str | None]:
    """The results of the first branch where `condition`, one element, is true, else those of the second.

    Both are computed: nothing that a branch does can be seen from outside. Raises RefusedNode where they differ in
    type or shape.
    """
    decides = emit_in(scope, builder, "Reshape", [condition], {"shape": ()})
    return [_chosen(scope, builder, decides, first, second) for first, second in zip(*results, strict=True)]


def _chosen(scope: Scope, builder: GraphBuilder, condition: str, first: str | None, second: str | None) -> str | None:
    if first is None or second is None or first == second:
        return first if second is not None else None
    mine, theirs = builder.tensor(first), builder.tensor(second)
    if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
        raise RefusedNode(
            f"{AT_RUN_TIME}, and its branches make {mine.dtype.value}{list(mine.shape)} and "
            f"{theirs.dtype.value}{list(theirs.shape)}"
        )
    return emit_in(scope, builder, "Where", [condition, first, second], {})
