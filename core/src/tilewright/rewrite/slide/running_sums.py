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
    """A mean of integers over the time axis, and perhaps others. Its state is the sum of [low + shift, high): in a call
    `incoming` is added, which with `edges`, whose elements depend on padding, is the whole sum; then `outgoing` is
    subtracted.
    """

    node: Node
    source: str
    incoming: Interval
    outgoing: Interval
    edges: tuple[Interval, ...]
    axes: tuple[int, ...]  # over which is summed
    keeps: bool  # these axes, with one element each
    elements: int  # of the output
    terms: int  # elements of each sum
    lag: int  # calls from which on the sum is taken up again

    @property
    def state_bytes(self) -> int:
        """Of the sums that are kept."""
        return self.lag * self.elements * _SUM_BYTES


def running_sum(site: Site, reuse: Reuse) -> RunningSum | None:
    """The running sum that a node may be; None where it is no mean of all positions, where not enough of them are
    reused to save anything, where phases take turns and the sum has no axis, where a Relu is fused into it, or where it
    is rounded otherwise than a float product is.
    """
    node, axes = site.node, _summed(site)
    if not axes or node.inputs[0] not in reuse.axes:
        return None
    x, axis, requant = site.input(0), reuse.axes[node.inputs[0]], node.requant()
    narrowed = (requant.low, requant.high) != site.output.dtype.limits or node.rounding != "onnx"
    terms = math.prod(x.shape[at] for at in axes)
    scalar_queue, saves = axis.lag > 1 and not site.output.shape, axis.high - axis.low >= 3 * axis.shift
    if narrowed or scalar_queue or axis.axis not in axes or not saves or terms * 255 >= 2**31:
        return None
    edges = ((0, axis.low), (axis.high, axis.length))
    return RunningSum(
        node=node,
        source=x.name,
        incoming=(axis.high - axis.shift, axis.high),
        outgoing=(axis.low, axis.low + axis.shift),
        edges=tuple(edge for edge in edges if edge[0] < edge[1]),
        axes=axes,
        keeps=len(site.output.shape) == len(x.shape),
        elements=site.output.elements,
        terms=terms,
        lag=axis.lag,
    )


def _summed(site: Site) -> tuple[int, ...]:
    """The axes over all of which a node is a mean; () where it is none."""
    node, shape = site.node, site.input(0).shape
    if node.op == "QReduceMean":
        axes = node.integers("axes", tuple(range(len(shape))))
        return tuple(sorted({axis % len(shape) for axis in axes}))
    whole = node.op == "QAveragePool" and node.integers("kernel_shape") == shape[2:] and not any(node.integers("pads"))
    return tuple(range(2, len(shape))) if whole else ()
