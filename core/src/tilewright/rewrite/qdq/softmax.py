"""Knows how a quantised Softmax becomes QSoftmax. How that computes is in `operators/quantised/qsoftmax`."""

from __future__ import annotations

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.work import Work

_LONGEST = 2**15  # both limits are those that QSoftmax states for its promise of one step
_SCALES = (2.0**-16, 2.0)


def lower(island: Island, main: Node, work: Work) -> Lowered:
    """QSoftmax(X): differences to the largest element are all it reads, so the input's zero point plays no part."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    rows, y_scale = island.graph.tensors[x.value].shape[main.integer("axis", -1)], island.output.scale[0]
    if rows > _LONGEST or not _SCALES[0] <= y_scale < _SCALES[1]:
        return f"rows of {rows} elements at scale {y_scale:.3g} are outside what integer softmax computes to one step"
    low, high = island.low_high()
    attributes: dict[str, Attribute] = {
        "axis": main.integer("axis", -1),
        "x_scale": x.affine.scale[0],
        "y_scale": y_scale,
        "zero_point": island.output.zero_point[0],
        "low": low,
        "high": high,
    }
    return island.integer_node("QSoftmax", (x.value,), attributes, x.node)
