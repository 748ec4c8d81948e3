"""Knows a mean over the whole time axis as a running sum: what comes in is added, what goes out is subtracted, which is
exact for integers. Does not know which elements are kept for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tilewright.ir.graphs.graph import Node, Site
from tilewright.rewrite.slide.intervals import Interval
from tilewright.rewrite.slide.reuse import Reuse

_SUM_BYTES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningSum:
    """A QAveragePool of all positions. Its state is the sum of [low + shift, high): in a call `incoming` is added,
    which with `edges`, whose elements depend on padding, is the whole sum; then `outgoing` is subtracted.
    """

    node: Node
    source: str
    incoming: Interval
    outgoing: Interval
    edges: tuple[Interval, ...]
    channels: tuple[int, ...]  # the shape of the sums: N, C and ones
    terms: int  # elements of each sum

    @property
    def state_bytes(self) -> int:
        """Of the sums that are kept."""
        return math.prod(self.channels) * _SUM_BYTES


def running_sum(site: Site, reuse: Reuse) -> RunningSum | None:
    """The running sum that a node may be; None where it is no mean of all positions, where not enough of them are
    reused to save anything, or where a Relu is fused into it.
    """
    node = site.node
    if node.op != "QAveragePool" or node.inputs[0] not in reuse.axes:
        return None
    x, axis, requant = site.input(0), reuse.axes[node.inputs[0]], node.requant()
    spatial = len(x.shape) - 2
    covers = node.integers("kernel_shape") == x.shape[2:] and not any(node.integers("pads"))
    narrowed = (requant.low, requant.high) != site.output.dtype.limits
    terms = math.prod(x.shape[2:])
    if not covers or narrowed or axis.axis < 2 or axis.high - axis.low < 3 * axis.shift or terms * 255 >= 2**31:
        return None
    edges = ((0, axis.low), (axis.high, axis.length))
    return RunningSum(
        node=node,
        source=x.name,
        incoming=(axis.high - axis.shift, axis.high),
        outgoing=(axis.low, axis.low + axis.shift),
        edges=tuple(edge for edge in edges if edge[0] < edge[1]),
        channels=(*x.shape[:2], *(1,) * spatial),
        terms=terms,
    )
