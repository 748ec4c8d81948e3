"""Knows which values share bytes: views that an operator offers, and outputs that overwrite an input.
Does not know addresses. Everything here is relative to a root value, which gives its buffer its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tilewright.ir.graph import Graph, Node
from tilewright.ir.layout import same_bytes
from tilewright.ir.operands import input_names
from tilewright.ir.operator import Alias, Operator
from tilewright.ir.stages import Bound


@dataclass(slots=True)
class Sharing:
    """A forest of values inside values, grown alias by alias while one schedule is being made."""

    graph: Graph
    parents: dict[str, tuple[str, int]] = field(default_factory=dict)  # value -> (value it lives in, byte offset)
    pins: Mapping[str, str] = field(default_factory=dict)  # value -> memory: what is pinned apart shares no bytes

    def root(self, value: str) -> tuple[str, int]:
        """The value that owns the buffer, and how far `value` is from its start, in bytes."""
        offset = 0
        while value in self.parents:
            value, step = self.parents[value]
            offset += step
        return value, offset

    def members(self, root: str) -> list[str]:
        """Every value in the buffer of `root`, itself included."""
        return [name for name in (root, *self.parents) if self.root(name)[0] == root]

    def bytes_of(self, value: str) -> tuple[int, int]:
        """The half-open byte range of `value` in its root's buffer."""
        offset = self.root(value)[1]
        return offset, offset + self.graph.tensors[value].size_bytes

    def pinned_apart(self, one: str, other: str) -> bool:
        """Whether the buffers of two values hold values that are pinned to different memories."""
        members = (*self.members(self.root(one)[0]), *self.members(self.root(other)[0]))
        return len({self.pins[name] for name in members if name in self.pins}) > 1

    def add_all(self, aliases: tuple[Alias, ...]) -> bool:
        """Accept all aliases of one node, or none of them."""
        before = dict(self.parents)
        for alias in aliases:
            if not self._may_join(alias):
                self.parents = before
                return False
            step = self.graph.tensors[alias.value].dtype.size_bytes
            self.parents[alias.value] = (alias.of, alias.offset * step)
        return True

    def _may_join(self, alias: Alias) -> bool:
        value, home = alias.value, self.root(alias.of)[0]
        if value in self.parents or value in self.graph.constants or alias.of in self.graph.constants:
            return False
        if self.root(value)[0] == home or self.pinned_apart(value, home):
            return False
        fixed = {*self.graph.inputs, *self.graph.outputs}
        mine = fixed.intersection(self.members(value))
        theirs = fixed.intersection(self.members(home))
        return not (mine and theirs) and value not in self.graph.inputs


def view_aliases(node: Node, bound: Bound, operators: Mapping[str, Operator]) -> tuple[Alias, ...]:
    """What the operator offers for this node under the chosen layouts."""
    return operators[node.op].alias(bound.graph.site(node), bound.layouts)


def in_place_pair(
    node: Node,
    bound: Bound,
    operators: Mapping[str, Operator],
    sharing: Sharing,
    last_read: Mapping[str, int],
    step: int,
) -> tuple[str, str] | None:
    """An (input, output) pair of values of `node` that may use the same bytes at `step`, or None."""
    site, operator = bound.graph.site(node), operators[node.op]
    inputs = dict(
        zip(input_names(operator, site), (tensor.name if tensor else "" for tensor in site.inputs), strict=True)
    )
    outputs = dict(zip(operator.outputs, (tensor.name for tensor in site.outputs), strict=False))
    for operand_in, operand_out in bound.layers[node.name].in_place:
        source, target = inputs.get(operand_in, ""), outputs[operand_out]
        if source and _may_overwrite(source, target, bound, sharing, last_read, step):
            return source, target
    return None


def _may_overwrite(
    source: str, target: str, bound: Bound, sharing: Sharing, last_read: Mapping[str, int], step: int
) -> bool:
    graph = bound.graph
    if source in graph.constants or target in sharing.parents or sharing.pinned_apart(source, target):
        return False
    one, other = graph.tensors[source], graph.tensors[target]
    if one.size_bytes != other.size_bytes or one.shape != other.shape:
        return False
    if not same_bytes(one.shape, bound.layouts[source], bound.layouts[target]):
        return False
    root = sharing.root(source)[0]
    members = sharing.members(root)
    if any(name in graph.inputs for name in members):
        return False
    low, high = sharing.bytes_of(source)
    for name in members:
        start, end = sharing.bytes_of(name)
        overlaps = start < high and low < end
        if overlaps and (last_read.get(name, -1) > step or name in graph.outputs):
            return False
    return True
