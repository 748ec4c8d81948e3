"""Knows operators on rows and windows that are written with others: LRN, LpNormalization, Hardmax, ReduceLogSumExp.
Does not know how those others are computed.

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

import math

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room

_BY_AXIS = 13  # the operator set from which Hardmax is along one axis; before, along all from it on
_BY_INPUT = 18  # the operator set that made the axes of ReduceLogSumExp an input
_LARGEST = float(np.finfo(np.float32).max)


def _axis(node: OnnxNode, graph: Conversion, axis: int, rank: int) -> int:
    """`axis` counted from the front."""
    if not -rank <= axis < rank:
        raise graph.refuse(node, f"axis {axis} is outside a tensor of {rank} axes")
    return axis % rank


def _lrn(node: OnnxNode, graph: Conversion) -> None:
    """x / (bias + alpha * mean of squares over neighbouring channels) ^ beta; a mean over `size`, 0 outside."""
    x, size = node.inputs[0], node.integer("size")
    shape = graph.tensor(x).shape
    if size < 1 or len(shape) < 2:
        raise graph.refuse(node, f"size is {size}, X has {len(shape)} axes")
    squares = graph.emit(node, "Mul", (x, x), hint="squares")
    rows = graph.emit(
        node, "Reshape", (squares,), (), {"shape": (shape[0], 1, shape[1], math.prod(shape[2:]))}, "channels"
    )
    window = {
        "kernel_shape": (size, 1),
        "pads": ((size - 1) // 2, 0, size // 2, 0),
        "strides": (1, 1),
        "count_include_pad": 1,
    }
    mean = graph.apply(node, "AveragePool", 11, (rows,), (), window, "mean")
    back = graph.emit(node, "Reshape", (mean,), (), {"shape": shape}, "back")
    numbers = (("alpha", 0.0001), ("bias", 1.0), ("beta", 0.75))
    alpha, bias, beta = (
        graph.add_constant(np.full(1, node.number(name, default), np.float32), name) for name, default in numbers
    )
    sums = graph.emit(node, "Add", (graph.emit(node, "Mul", (back, alpha), hint="scaled"), bias), hint="sums")
    divisor = graph.apply(node, "Pow", 13, (sums, beta), (), {}, "divisor")
    graph.emit(node, "Div", (x, divisor), node.outputs)


def _lp_normalization(node: OnnxNode, graph: Conversion) -> None:
    """x / its norm along an axis, and 0 where that is 0."""
    order = node.integer("p", 2)
    if order not in (1, 2):
        raise graph.refuse(node, f"p is {order}, neither 1 nor 2")
    axis = _axis(node, graph, node.integer("axis", -1), len(graph.tensor(node.inputs[0]).shape))
    along = {"axes": (axis,), "keepdims": 1}
    norm = graph.apply(node, f"ReduceL{order}", 13, node.inputs, (), along, "norm")
    zero = graph.add_constant(np.zeros(1, np.float32), "zero")
    none = graph.emit(node, "Equal", (norm, zero), hint="none")
    quotient = graph.emit(node, "Div", (node.inputs[0], norm), hint="quotient")
    graph.emit(node, "Where", (none, zero, quotient), node.outputs)


def _hardmax(node: OnnxNode, graph: Conversion) -> None:
    """1 where the first largest element of a row is, else 0."""
    x, shape = node.inputs[0], graph.tensor(node.inputs[0]).shape
    by_axis = node.version >= _BY_AXIS
    axis = _axis(node, graph, node.integer("axis", -1 if by_axis else 1), len(shape))
    inner = shape
    if not by_axis and axis < len(shape) - 1:
        inner, axis = (math.prod(shape[:axis]), math.prod(shape[axis:])), 1
        x = graph.emit(node, "Reshape", (x,), (), {"shape": inner}, "flat")
    best = graph.apply(node, "ArgMax", 13, (x,), (), {"axis": axis, "keepdims": 1}, "best")
    need_room(node, graph, inner[axis])
    places = np.arange(inner[axis]).reshape(-1, *(1,) * (len(inner) - axis - 1))
    found = graph.emit(node, "Equal", (graph.add_constant(places, "places"), best), hint="found")
    result = graph.emit(node, "Cast", (found,), (), {"to": graph.tensor(x).dtype.value}, "ones")
    graph.rename(node, result if inner == shape else graph.emit(node, "Reshape", (result,), (), {"shape": shape}))


def _log_sum_exp(node: OnnxNode, graph: Conversion) -> None:
    """log(sum(exp(x - m))) + m, m the largest element, or the largest float where that is infinite."""
    by_input, kept = node.version >= _BY_INPUT, {**node.attributes, "keepdims": 1}
    if by_input and node.integer("noop_with_empty_axes") and len(node.inputs) < 2:
        graph.rename(node, node.inputs[0])
        return
    names = node.inputs
    largest = graph.apply(node, "ReduceMax", _BY_INPUT if by_input else 1, names, (), kept, "largest")
    limits = {"min": -_LARGEST, "max": _LARGEST}
    middle = graph.emit(node, "Clip", (largest,), (), limits, "middle")
    powers = graph.emit(node, "Exp", (graph.emit(node, "Sub", (names[0], middle), hint="distances"),), hint="powers")
    total = graph.apply(node, "ReduceSum", 13 if by_input else 1, (powers, *names[1:]), (), kept, "total")
    result = graph.emit(node, "Add", (graph.emit(node, "Log", (total,), hint="log"), middle), hint="result")
    if node.integer("keepdims", 1):
        graph.rename(node, result)
        return
    # The same axes, all of one element now, are left out by a reduction that changes nothing.
    graph.rename(
        node, graph.apply(node, "ReduceMax", _BY_INPUT if by_input else 1, (result, *names[1:]), (), node.attributes)
    )


_AXES = {"axes": "INTS", "keepdims": "INT"}
_AXES_INPUT = {"keepdims": "INT", "noop_with_empty_axes": "INT"}
_LRN = {"alpha": "FLOAT", "beta": "FLOAT", "bias": "FLOAT", "size": "INT"}

IMPORTS = (
    Import(op_type="LRN", since=1, attributes=_LRN, convert=_lrn),
    Import(op_type="LpNormalization", since=1, attributes={"axis": "INT", "p": "INT"}, convert=_lp_normalization),
    Import(op_type="Hardmax", since=1, attributes={"axis": "INT"}, convert=_hardmax),
    Import(op_type="ReduceLogSumExp", since=1, attributes=_AXES, convert=_log_sum_exp),
    Import(op_type="ReduceLogSumExp", since=18, attributes=_AXES_INPUT, convert=_log_sum_exp, max_inputs=2),
)
