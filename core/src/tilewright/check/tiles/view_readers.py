"""Knows who needs a value beyond some nodes, through views of its bytes as well.
Does not know why these nodes are together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tilewright.ir.graphs.graph import Node
from tilewright.ir.plans.stages import Scheduled


class ViewReaders:
    """Who reads each value of a schedule, and which values show the bytes of others."""

    def __init__(self, scheduled: Scheduled) -> None:
        self._outputs = scheduled.bound.graph.outputs
        self._readers: Mapping[str, Sequence[Node]] = scheduled.bound.graph.consumers()
        self._views = scheduled.views

    def needed_outside(self, value: str, inside: Collection[str]) -> bool:
        """Whether a value, or one that shows its bytes, is an output or read by others than the nodes `inside`."""
        return value in self._outputs or any(self._needs(node, inside) for node in self._readers[value])

    def with_views(self, values: Collection[str]) -> frozenset[str]:
        """These values, and those that show their bytes in another shape."""
        return frozenset((*values, *(shown for shown, of in self._views.items() if of in values)))

    def _needs(self, node: Node, inside: Collection[str]) -> bool:
        """A node that makes a view needs nothing itself."""
        if self._views.keys().isdisjoint(node.outputs):
            return node.name not in inside
        return any(self.needed_outside(view, inside) for view in node.outputs)
