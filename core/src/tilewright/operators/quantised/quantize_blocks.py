"""Knows QuantizeLinear and DequantizeLinear with a scale for each block of elements along an axis: as float arithmetic.
Does not know scales of a whole tensor or of a channel (`quantize`).

An axis that its blocks divide is split in two, and each scale is broadcast along the inner one; otherwise each scale is
repeated for the elements of its block. Sums of a rounded quotient and a zero point are exact wherever they do not
saturate. A quotient that is NaN gives 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.ir.graphs.importing import Conversion, OnnxNode
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.import_checks import need_axis

_Apart = Callable[[str, str], str]  # a value and a hint -> the value in the shape that scales broadcast to


def quantize_blocks(node: OnnxNode, graph: Conversion, target: DType) -> None:
    """saturate(rne(x / scale) + zero point), every block with its own."""
    apart, spread = _shapes(node, graph)
    x = _floats(node, graph, node.inputs[0], "x")
    quotient = graph.emit(node, "Div", (apart(x, "apart"), spread(node.inputs[1], "scales")), hint="quotient")
    if zero := _zero_point(node, graph):
        rounded = graph.emit(node, "Round", (quotient,), hint="rounded")
        quotient = graph.emit(node, "Add", (rounded, _floats(node, graph, spread(zero, "zeros"), "zero")), hint="moved")
    one = graph.add_constant(np.ones((), np.float32), "one")
    nothing = graph.add_constant(np.zeros((), target.numpy), "nothing")
    stored = graph.emit(node, "QuantizeLinear", (quotient, one, nothing), (), {"to": target.value}, "stored")
    _joined(node, graph, stored)


def dequantize_blocks(node: OnnxNode, graph: Conversion) -> None:
    """(x - zero point) * scale, every block with its own."""
    apart, spread = _shapes(node, graph)
    value = apart(_floats(node, graph, node.inputs[0], "x"), "apart")
    if zero := _zero_point(node, graph):
        if graph.tensor(zero).dtype is DType.I32:
            raise graph.refuse(node, "zero points of 32 bits for each block are not supported")
        value = graph.emit(node, "Sub", (value, _floats(node, graph, spread(zero, "zeros"), "zero")), hint="distance")
    _joined(node, graph, graph.emit(node, "Mul", (value, spread(node.inputs[1], "scales")), hint="scaled"))


def _zero_point(node: OnnxNode, graph: Conversion) -> str:
    """The input, or "" where there is none or it is known to be 0."""
    name = node.inputs[2] if len(node.inputs) > 2 else ""
    known = graph.constant(name) if name else None
    return "" if known is not None and not known.any() else name


def _floats(node: OnnxNode, graph: Conversion, name: str, hint: str) -> str:
    if graph.tensor(name).dtype is DType.F32:
        return name
    return graph.emit(node, "Cast", (name,), (), {"to": "f32"}, f"{hint}_float")


def _shapes(node: OnnxNode, graph: Conversion) -> tuple[_Apart, _Apart]:
    """What brings X, and what brings a parameter, into the shape that the arithmetic is done in."""
    shape, scales = graph.tensor(node.inputs[0]).shape, graph.tensor(node.inputs[1]).shape
    size, axis = node.integer("block_size"), need_axis(node, graph, node.integer("axis", 1), len(shape))
    blocks = ceil_div(shape[axis], size) if size > 0 else 0
    if size < 1 or scales != (*shape[:axis], blocks, *shape[axis + 1 :]):
        raise graph.refuse(
            node, f"blocks of {size} along axis {axis} of {list(shape)} do not fit {list(scales)} scales"
        )
    if len(node.inputs) > 2 and node.inputs[2] and graph.tensor(node.inputs[2]).shape != scales:
        raise graph.refuse(node, "scale and zero point must have one shape")
    if shape[axis] % size:
        places = graph.add_constant(np.arange(shape[axis]) // size, "blocks")
        return (
            lambda name, hint: name,
            lambda name, hint: graph.emit(node, "Gather", (name, places), (), {"axis": axis}, hint),
        )
    before, after = (*shape[:axis], blocks), shape[axis + 1 :]
    return (
        lambda name, hint: graph.emit(node, "Reshape", (name,), (), {"shape": (*before, size, *after)}, hint),
        lambda name, hint: graph.emit(node, "Reshape", (name,), (), {"shape": (*before, 1, *after)}, hint),
    )


def _joined(node: OnnxNode, graph: Conversion, name: str) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    if graph.tensor(name).shape == shape:
        graph.rename(node, name)
    else:
        graph.emit(node, "Reshape", (name,), node.outputs, {"shape": shape})
