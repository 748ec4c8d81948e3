"""Knows how quantised operators without weights become integer ones: sums and products of two tensors, means, softmax.
Does not know elementwise operators of one tensor (`lookup`), nor MaxPool, which has no arithmetic (`movement`).
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.quantised.qlogsoftmax import FEWEST_WIDE, shift_of, wide_shift_of
from tilewright.operators.quantised.qresize import most_weight
from tilewright.rewrite.qdq.affine import Affine
from tilewright.rewrite.qdq.island import Island, Lowered, QuantisedSource
from tilewright.rewrite.qdq.weights import Work

_LONGEST = 2**15  # both limits are those that QSoftmax states for its promise of one step
_FEWEST_BITS = 10  # behind the point of a sum of QLogSoftmax: a result is exact but next to halves
_SCALES = (2.0**-16, 2.0)


def lower_sum(island: Island, main: Node, work: Work) -> Lowered:
    """QAdd of Add, or of Sub with a negative second scale."""
    operands = _operands(island, main)
    if isinstance(operands, str):
        return operands
    a, b = operands
    a_scale, b_scale, y_scale = (affine.scale[0] for affine in (a.affine, b.affine, island.output))
    if not (math.isfinite(a_scale) and math.isfinite(b_scale) and 0 < y_scale < math.inf):
        return "its scales are not finite, or that of the result is not positive"
    sign = -1.0 if main.op == "Sub" else 1.0
    low, high = island.low_high()
    attributes: dict[str, Attribute] = {
        "a_scale": a_scale,
        "b_scale": sign * b_scale,
        "y_scale": y_scale,
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": b.affine.zero_point[0],
        "zero_point": island.output.zero_point[0],
        "low": low,
        "high": high,
    }
    return island.integer_node("QAdd", (a.value, b.value), attributes, a.node, b.node)


def lower_product(island: Island, main: Node, work: Work) -> Lowered:
    """QMul of Mul."""
    operands = _operands(island, main)
    if isinstance(operands, str):
        return operands
    a, b = operands
    requant = island.product_requant(a.affine, b.affine.scales())
    if isinstance(requant, str):
        return requant
    attributes: dict[str, Attribute] = {
        "a_zero_point": a.affine.zero_point[0],
        "b_zero_point": b.affine.zero_point[0],
        "requant": requant,
    }
    return island.integer_node("QMul", (a.value, b.value), attributes, a.node, b.node)


def _operands(island: Island, main: Node) -> tuple[QuantisedSource, QuantisedSource] | str:
    a, b = (island.stored(name) for name in main.inputs)
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else (a, b)


def _mean_requant(island: Island, x: Affine, counts: tuple[int, ...]) -> Requant | str:
    """Of sums of so many elements each."""
    stored = StoredScales(x=x.scale[0], y=island.output.scale[0], terms=counts)
    with np.errstate(all="ignore"):
        scale = x.scales()[0] / (island.output.scales()[0] * np.array(counts, np.float32))
    return island.requant(tuple(float(factor) for factor in scale), stored)


def lower_average_pool(island: Island, main: Node, work: Work) -> Lowered:
    """QAveragePool: one scale where every window counts the same, else one per count."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    window = math.prod(main.integers("kernel_shape"))
    ragged = bool(main.integer("ceil_mode")) or (any(main.integers("pads")) and not main.integer("count_include_pad"))
    requant = _mean_requant(island, x.affine, tuple(range(1, window + 1)) if ragged else (window,))
    if isinstance(requant, str):
        return requant
    attributes = island.window_attributes()
    attributes.update(x_zero_point=x.affine.zero_point[0], requant=requant)
    return island.integer_node("QAveragePool", (x.value,), attributes, x.node)


def lower_reduce(island: Island, main: Node, work: Work) -> Lowered:
    """QReduceMean over the same axes; that of a sum divides by 1."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    shape = island.graph.tensors[x.value].shape
    axes = main.integers("axes") or tuple(range(len(shape)))
    count = math.prod(shape[axis] for axis in axes) if main.op == "ReduceMean" else 1
    requant = _mean_requant(island, x.affine, (count,))
    if isinstance(requant, str):
        return requant
    attributes: dict[str, Attribute] = {
        "axes": axes,
        "keepdims": main.integer("keepdims", 1),
        "x_zero_point": x.affine.zero_point[0],
        "requant": requant,
    }
    return island.integer_node("QReduceMean", (x.value,), attributes, x.node)


def lower_resize(island: Island, main: Node, work: Work) -> Lowered:
    """QResizeLinear with the same positions."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    weight = math.prod(main.integers("divisors"))
    if weight > most_weight(x.affine.dtype):
        return f"ResizeLinear has no integer form for weights of {weight}: its scales are no small ratios"
    requant = _mean_requant(island, x.affine, (weight,))
    if isinstance(requant, str):
        return requant
    attributes = island.window_attributes()
    attributes.update(x_zero_point=x.affine.zero_point[0], requant=requant)
    return island.integer_node("QResizeLinear", (x.value,), attributes, x.node)


def softmax_of(island: Island, main: Node, x: QuantisedSource) -> Node | str:
    """QSoftmax(X). It reads differences to the largest element only, so the input's zero point has no effect."""
    if island.output.wide and not x.affine.wide:
        return "Softmax of 8 bits has an integer form for a result of 8 bits"
    rows, y_scale = island.graph.tensors[x.value].shape[main.integer("axis", -1)], island.output.scale[0]
    if rows > _LONGEST or not _SCALES[0] <= y_scale < _SCALES[1]:
        return f"rows of {rows} elements at scale {y_scale:.3g} are outside what integer softmax computes to one step"
    return island.integer_node("QSoftmax", (x.value,), _row_attributes(island, main, x.affine), x.node)


def lower_log_softmax(island: Island, main: Node, work: Work) -> Lowered:
    """QLogSoftmax(X). It reads differences to the largest element only, too."""
    x = island.stored(main.inputs[0])
    if isinstance(x, str):
        return x
    rows = island.graph.tensors[x.value].shape[main.integer("axis", -1)]
    x_scale, y_scale = x.affine.scale[0], island.output.scale[0]
    if not (0 < x_scale < math.inf and 0 < y_scale < math.inf):
        return "its scales are not finite, or that of the result is not positive"
    wide = x.affine.wide or island.output.wide
    shift, fewest = (wide_shift_of, FEWEST_WIDE) if wide else (shift_of, _FEWEST_BITS)
    if not 1 <= rows <= _LONGEST or shift(rows, x_scale, y_scale) < fewest:
        return f"rows of {rows} elements at scale {y_scale:.3g} are outside what integer softmax computes to one step"
    return island.integer_node("QLogSoftmax", (x.value,), _row_attributes(island, main, x.affine), x.node)


def _row_attributes(island: Island, main: Node, x: Affine) -> dict[str, Attribute]:
    low, high = island.low_high()
    return {
        "axis": main.integer("axis", -1),
        "x_scale": x.scale[0],
        "y_scale": island.output.scale[0],
        "zero_point": island.output.zero_point[0],
        "low": low,
        "high": high,
    }
