"""Knows operators of windows that are written with others: LpPool, and what undoes windows, MaxUnpool and Col2Im.
Does not know how those others are computed.

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.windows import WINDOW_ATTRIBUTES, import_windows


def _need_floats(node: OnnxNode, graph: Conversion) -> tuple[int, ...]:
    x = graph.tensor(node.inputs[0])
    if x.dtype is not DType.F32:
        raise graph.refuse(node, f"its input is {x.dtype.value}; supported here: f32")
    return x.shape


def _power(node: OnnxNode, graph: Conversion, name: str, exponent: float, hint: str) -> str:
    if exponent == 1:
        return name
    known = graph.add_constant(np.full(1, exponent, np.float32), "exponent")
    return graph.apply(node, "Pow", 13, (name, known), (), {}, hint)


def _powers(node: OnnxNode, graph: Conversion) -> tuple[str, float]:
    """|x| ^ p, and p."""
    order = node.number("p", 2.0)
    if not order > 0 or math.isinf(order):
        raise graph.refuse(node, f"p is {order:g}; it must be greater than 0")
    size = graph.emit(node, "Abs", node.inputs, hint="size")
    return _power(node, graph, size, order, "powers"), order


def _lp_pool(node: OnnxNode, graph: Conversion) -> None:
    """(sum of |x| ^ p) ^ (1 / p) over each window: a sum is a convolution of each channel with ones."""
    shape = _need_floats(node, graph)
    if len(shape) < 3:
        raise graph.refuse(node, f"X{list(shape)} has no spatial axes")
    kernel, spatial = node.integers("kernel_shape"), shape[2:]
    windows = import_windows(node, graph, spatial, kernel, ceil_mode=bool(node.integer("ceil_mode")))
    ends = zip(
        windows.outputs(spatial), windows.strides, windows.reach, spatial, windows.before, windows.after, strict=True
    )
    after = tuple(
        max(more, (count - 1) * stride + reach - extent - before) for count, stride, reach, extent, before, more in ends
    )
    powers, order = _powers(node, graph)
    ones = graph.add_constant(np.ones((shape[1], 1, *kernel), np.float32), "ones")
    attributes: dict[str, object] = {
        "kernel_shape": kernel,
        "strides": windows.strides,
        "dilations": windows.dilations,
        "pads": (*windows.before, *after),
        "group": shape[1],
    }
    sums = graph.apply(node, "Conv", 11, (powers, ones), (), attributes, "sums")
    graph.rename(node, _power(node, graph, sums, 1 / order, "roots"))


def _global_lp_pool(node: OnnxNode, graph: Conversion) -> None:
    rank = len(_need_floats(node, graph))
    if rank < 3:
        raise graph.refuse(node, "X has no spatial axes")
    powers, order = _powers(node, graph)
    over = {"axes": tuple(range(2, rank)), "keepdims": 1}
    sums = graph.apply(node, "ReduceSum", 1, (powers,), (), over, "sums")
    graph.rename(node, _power(node, graph, sums, 1 / order, "roots"))


def _max_unpool(node: OnnxNode, graph: Conversion) -> None:
    """Zeros with each element where its index says, and more zeros after them up to `output_shape`."""
    x, indices = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    rank = len(x.shape) - 2
    kernel, strides = node.integers("kernel_shape"), node.integers("strides") or (1,) * rank
    pads = node.integers("pads") or (0,) * (2 * rank)
    if rank < 1 or indices.shape != x.shape or (len(kernel), len(strides), len(pads)) != (rank, rank, 2 * rank):
        raise graph.refuse(node, f"X{list(x.shape)}, I{list(indices.shape)} and kernel {list(kernel)} do not fit")
    spatial = tuple(
        (extent - 1) * stride - before - after + taps
        for extent, stride, before, after, taps in zip(
            x.shape[2:], strides, pads[:rank], pads[rank:], kernel, strict=True
        )
    )
    inner = (*x.shape[:2], *spatial)
    wanted = inner
    if len(node.inputs) > 2 and node.inputs[2]:
        wanted = tuple(int(extent) for extent in graph.need_constant(node, 2).reshape(-1))
    if len(wanted) != len(inner) or any(not 1 <= own <= all_ for own, all_ in zip(inner, wanted, strict=True)):
        raise graph.refuse(node, f"output_shape {list(wanted)} does not hold {list(inner)}")
    need_room(node, graph, math.prod(inner))
    zeros = graph.add_constant(np.zeros(math.prod(inner), x.dtype.numpy), "zeros")
    flat = {"shape": (x.elements,)}
    places = graph.emit(node, "Reshape", node.inputs[1:2], (), flat, "places")
    values = graph.emit(node, "Reshape", node.inputs[:1], (), flat, "values")
    put: dict[str, Attribute] = {"reduction": "none", "slice": 1}
    filled = graph.emit(node, "Scatter", (zeros, places, values), (), put, "filled")
    result = graph.emit(node, "Reshape", (filled,), (), {"shape": inner}, "image")
    if wanted != inner:
        border = (*(0,) * len(inner), *(all_ - own for own, all_ in zip(inner, wanted, strict=True)))
        result = graph.emit(node, "Pad", (result,), (), {"mode": "constant", "pads": border, "value": 0.0}, "larger")
    graph.rename(node, result)


def _col2im(node: OnnxNode, graph: Conversion) -> None:
    """Blocks added up where they overlap: a transposed convolution that puts each element of a block at its place."""
    shape = _need_floats(node, graph)
    image, block = (tuple(int(n) for n in graph.need_constant(node, index).reshape(-1)) for index in (1, 2))
    rank, size = len(image), math.prod(block)
    strides, dilations = (node.integers(name) or (1,) * rank for name in ("strides", "dilations"))
    pads = node.integers("pads") or (0,) * (2 * rank)
    lengths = (len(block), len(strides), len(dilations), len(pads))
    if len(shape) != 3 or lengths != (rank, rank, rank, 2 * rank) or min((*image, *block, *strides, *dilations)) < 1:
        raise graph.refuse(
            node, f"its input is {list(shape)}, images {list(image)} and blocks {list(block)} do not fit"
        )
    reach = [(taps - 1) * step + 1 for taps, step in zip(block, dilations, strict=True)]
    ends = zip(image, pads[:rank], pads[rank:], reach, strides, strict=True)
    counts = [(extent + before + after - reached) // stride + 1 for extent, before, after, reached, stride in ends]
    if shape[1] % size or min(counts) < 1 or math.prod(counts) != shape[2]:
        raise graph.refuse(node, f"{counts} blocks of {list(block)} do not make its input {list(shape)}")
    channels = shape[1] // size
    need_room(node, graph, channels * size * size)
    blocks = graph.emit(node, "Reshape", node.inputs[:1], (), {"shape": (shape[0], shape[1], *counts)}, "blocks")
    puts = np.tile(np.eye(size, dtype=np.float32).reshape(size, 1, *block), (channels, *(1,) * (rank + 1)))
    rest = tuple(
        extent + before + after - ((count - 1) * stride + reached)
        for extent, before, after, count, stride, reached in zip(
            image, pads[:rank], pads[rank:], counts, strides, reach, strict=True
        )
    )
    attributes: dict[str, object] = {
        "kernel_shape": block,
        "strides": strides,
        "dilations": dilations,
        "pads": pads,
        "output_padding": rest,
        "group": channels,
    }
    places = graph.add_constant(puts, "places")
    graph.apply(node, "ConvTranspose", 11, (blocks, places), node.outputs, attributes)


_STEPS = {"dilations": "INTS", "pads": "INTS", "strides": "INTS"}
_UNPOOL = {"kernel_shape": "INTS", "pads": "INTS", "strides": "INTS"}

LP_POOL = (
    Import(op_type="LpPool", since=1, attributes={**WINDOW_ATTRIBUTES, "p": "FLOAT"}, convert=_lp_pool),
    Import(op_type="LpPool", since=2, attributes={**WINDOW_ATTRIBUTES, "p": "INT"}, convert=_lp_pool),
    Import(
        op_type="LpPool",
        since=18,
        attributes={**WINDOW_ATTRIBUTES, "p": "INT", "ceil_mode": "INT", "dilations": "INTS"},
        convert=_lp_pool,
    ),
    Import(op_type="GlobalLpPool", since=1, attributes={"p": "FLOAT"}, convert=_global_lp_pool),
    Import(op_type="GlobalLpPool", since=2, attributes={"p": "INT"}, convert=_global_lp_pool),
)
MAX_UNPOOL = (
    Import(op_type="MaxUnpool", since=9, attributes=_UNPOOL, convert=_max_unpool, min_inputs=2, max_inputs=3),
)
COL2IM = (Import(op_type="Col2Im", since=18, attributes=_STEPS, convert=_col2im, min_inputs=3, max_inputs=3),)
