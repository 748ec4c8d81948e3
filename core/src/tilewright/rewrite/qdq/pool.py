"""Knows how quantised AveragePool and ReduceMean become QAveragePool and QReduceMean.
Does not know MaxPool, which needs no arithmetic (`movement`).
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.qdq.affine import Affine
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.work import Work


def mean_scale(source: Affine, output: Affine, count: int) -> float:
    """`f32(sx / f32(sy * count))`: one rounding of the divisor, one of the quotient, as onnxruntime does it."""
    with np.errstate(all="ignore"):
        return float(source.scales()[0] / (output.scales()[0] * np.float32(count)))


def lower_average_pool(island: Island, main: Node, work: Work) -> Lowered:
    """QAveragePool: one scale where every window counts the same, else one per count."""
    found = island.stored(main.inputs[0])
    if isinstance(found, str):
        return found
    window = math.prod(main.integers("kernel_shape"))
    ragged = bool(main.integer("ceil_mode")) or (any(main.integers("pads")) and not main.integer("count_include_pad"))
    counts = range(1, window + 1) if ragged else (window,)
    requant = island.requant(tuple(mean_scale(found.affine, island.output, count) for count in counts))
    if isinstance(requant, str):
        return requant
    attributes = island.window_attributes()
    attributes.update(x_zero_point=found.affine.zero_point[0], requant=requant)
    return island.integer_node("QAveragePool", (found.value,), attributes, found.node)


def lower_reduce_mean(island: Island, main: Node, work: Work) -> Lowered:
    """QReduceMean over the same axes."""
    found = island.stored(main.inputs[0])
    if isinstance(found, str):
        return found
    shape = island.graph.tensors[found.value].shape
    axes = main.integers("axes") or tuple(range(len(shape)))
    count = math.prod(shape[axis] for axis in axes)
    requant = island.requant((mean_scale(found.affine, island.output, count),))
    if isinstance(requant, str):
        return requant
    attributes: dict[str, Attribute] = {
        "axes": axes,
        "keepdims": main.integer("keepdims", 1),
        "x_zero_point": found.affine.zero_point[0],
        "requant": requant,
    }
    return island.integer_node("QReduceMean", (found.value,), attributes, found.node)
