"""Knows how a quantised Softmax becomes QSoftmax. Does not know how QSoftmax computes; `operators/qsoftmax` does."""

from __future__ import annotations

from tilewright.graph import Attribute, Node
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.work import Work


def lower(island: Island, main: Node, work: Work) -> Lowered:
    """QSoftmax(X): differences to the largest element are all it reads, so the input's zero point plays no part."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    low, high = island.low_high()
    attributes: dict[str, Attribute] = {
        "axis": main.integer("axis", -1),
        "x_scale": x.affine.scale[0],
        "y_scale": island.output.scale[0],
        "zero_point": island.output.zero_point[0],
        "low": low,
        "high": high,
    }
    return island.integer_node("QSoftmax", (x.value,), attributes, x.node)
