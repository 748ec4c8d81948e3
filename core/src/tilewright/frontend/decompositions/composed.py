"""Knows operators that are written with others: PRelu, sums of squares, DepthToSpace, CenterCropPad, LRN, Hardmax, ...
Does not know how those others are computed. What is moved and not computed (Tile, DepthToSpace) keeps any type.

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_room

_AXES = {"axes": "INTS", "keepdims": "INT"}
_AXES_INPUT = {"keepdims": "INT", "noop_with_empty_axes": "INT"}
_MOST_COPIES = 64  # of a tensor, side by side
_BY_AXIS = 13  # the operator set from which Hardmax is along one axis; before, along all from it on
_BY_INPUT = 18  # the operator set that made the axes of ReduceLogSumExp an input
_LARGEST = float(np.finfo(np.float32).max)
_LRN = {"alpha": "FLOAT", "beta": "FLOAT", "bias": "FLOAT", "size": "INT"}


def _prelu(node: OnnxNode, graph: Conversion) -> None:
    """max(x, 0) + slope * min(x, 0)."""
    x, slope = node.inputs
    zero = graph.add_constant(np.zeros((), np.float32), "zero")
    above = graph.emit(node, "Max", (x, zero), hint="above")
    below = graph.emit(node, "Min", (x, zero), hint="below")
    graph.emit(node, "Add", (above, graph.emit(node, "Mul", (below, slope), hint="scaled")), node.outputs)


def _celu(node: OnnxNode, graph: Conversion) -> None:
    """alpha * elu(x / alpha): max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)). ONNX's own body loses scalars."""
    alpha = graph.add_constant(np.asarray(node.number("alpha", 1.0), np.float32), "alpha")
    scaled = graph.emit(node, "Div", (node.inputs[0], alpha), hint="scaled")
    graph.emit(node, "Mul", (graph.apply(node, "Elu", 6, (scaled,), (), {}, "elu"), alpha), node.outputs)


def _mean(node: OnnxNode, graph: Conversion) -> None:
    total = graph.apply(node, "Sum", 13, node.inputs, hint="sum")
    share = graph.add_constant(np.asarray(1 / len(node.inputs), graph.tensor(total).dtype.numpy), "share")
    graph.emit(node, "Mul", (total, share), node.outputs)


def _reduced(
    before: tuple[str, ...], after: tuple[str, ...], by_input: bool, node: OnnxNode, graph: Conversion
) -> None:
    """ReduceSum of something, and something of that."""
    value = node.inputs[0]
    for op in before:
        value = graph.emit(node, op, (value, value) if op == "Mul" else (value,), hint=op.lower())
    names = (value, *node.inputs[1:])
    value = graph.apply(node, "ReduceSum", 13 if by_input else 1, names, attributes=node.attributes, hint="sum")
    for op in after:
        value = graph.emit(node, op, (value,), hint=op.lower())
    graph.rename(node, value)


def _blocks(to_space: bool, node: OnnxNode, graph: Conversion) -> None:
    """DepthToSpace and SpaceToDepth: a Reshape that names the blocks, a Transpose, a Reshape that joins them."""
    shape = graph.tensor(node.inputs[0]).shape
    if len(shape) != 4:
        raise graph.refuse(node, f"its input has {len(shape)} axes; four are supported: N, C, H, W")
    batch, channels, high, wide = shape
    side = node.integer("blocksize")
    if side < 1 or (channels % (side * side) if to_space else high % side or wide % side):
        raise graph.refuse(node, f"blocks of {side} do not divide its input")
    deep_first = node.text("mode", "DCR") == "DCR"  # blocks before channels
    if to_space:
        left = channels // (side * side)
        split = (batch, side, side, left, high, wide) if deep_first else (batch, left, side, side, high, wide)
        order = (0, 3, 4, 1, 5, 2) if deep_first else (0, 1, 4, 2, 5, 3)
        joined: tuple[int, ...] = (batch, left, high * side, wide * side)
    else:
        split = (batch, channels, high // side, side, wide // side, side)
        order = (0, 3, 5, 1, 2, 4) if deep_first else (0, 1, 3, 5, 2, 4)
        joined = (batch, channels * side * side, high // side, wide // side)
    apart = graph.emit(node, "Reshape", node.inputs, (), {"shape": split}, "apart")
    moved = graph.emit(node, "Transpose", (apart,), (), {"perm": order}, "moved")
    graph.emit(node, "Reshape", (moved,), node.outputs, {"shape": joined})


def _tile(node: OnnxNode, graph: Conversion) -> None:
    repeats = [int(count) for count in graph.need_constant(node, 1).reshape(-1)]
    if len(repeats) != len(graph.tensor(node.inputs[0]).shape):
        raise graph.refuse(node, "it needs one count for each axis of its input")
    graph.rename(node, _repeated(node, graph, node.inputs[0], repeats))


def _expand(node: OnnxNode, graph: Conversion) -> None:
    x, wanted = graph.tensor(node.inputs[0]).shape, tuple(int(n) for n in graph.need_constant(node, 1).reshape(-1))
    try:
        shape = np.broadcast_shapes(x, wanted)
    except ValueError:
        raise graph.refuse(node, f"{list(x)} does not broadcast to {list(wanted)}") from None
    own = (*(1,) * (len(shape) - len(x)), *x)
    value = node.inputs[0] if own == x else graph.emit(node, "Reshape", node.inputs[:1], (), {"shape": own}, "axes")
    repeats = [1 if whole == part else whole // part for whole, part in zip(shape, own, strict=True)]
    graph.rename(node, _repeated(node, graph, value, repeats))


def _repeated(node: OnnxNode, graph: Conversion, value: str, repeats: list[int]) -> str:
    """Copies side by side, innermost axis first."""
    for axis in reversed(range(len(repeats))):
        if repeats[axis] > _MOST_COPIES or repeats[axis] < 1:
            raise graph.refuse(
                node, f"{repeats[axis]} copies along axis {axis} are too large; 1 to {_MOST_COPIES} are supported"
            )
        if repeats[axis] > 1:
            value = graph.emit(node, "Concat", (value,) * repeats[axis], (), {"axis": axis}, f"copies_{axis}")
    return value


def _center_crop_pad(node: OnnxNode, graph: Conversion) -> None:
    """A Pad whose pads are negative where the middle is cut out; of an odd number of elements, one more at the end."""
    shape, wanted = graph.tensor(node.inputs[0]).shape, [int(n) for n in graph.need_constant(node, 1).reshape(-1)]
    rank = len(shape)
    axes = node.integers("axes", tuple(range(rank)))
    if len(axes) != len(wanted) or min(wanted, default=0) < 0 or any(not -rank <= axis < rank for axis in axes):
        raise graph.refuse(node, f"shape {wanted} does not fit axes {list(axes)} of {list(shape)}")
    before, after = [0] * rank, [0] * rank
    for axis, extent in zip(axes, wanted, strict=True):
        more = extent - shape[axis]
        before[axis] = int(more / 2)  # towards 0
        after[axis] = more - before[axis]
    pads = graph.add_constant(np.asarray((*before, *after), np.int64), "pads")
    graph.apply(node, "Pad", 13, (node.inputs[0], pads), node.outputs)


def _reduce(name: str, before: tuple[str, ...], after: tuple[str, ...]) -> tuple[Import, Import]:
    by_attribute, by_input = (partial(_reduced, before, after, flag) for flag in (False, True))
    return (
        Import(op_type=name, since=1, attributes=_AXES, convert=by_attribute),
        Import(op_type=name, since=18, attributes=_AXES_INPUT, convert=by_input, max_inputs=2),
    )


def _two(name: str, since: int, convert: Callable[[OnnxNode, Conversion], None]) -> Import:
    return Import(op_type=name, since=since, attributes={}, convert=convert, min_inputs=2, max_inputs=2)


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
    hit = graph.emit(node, "Equal", (graph.add_constant(places, "places"), best), hint="found")
    result = graph.emit(node, "Cast", (hit,), (), {"to": graph.tensor(x).dtype.value}, "ones")
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


IMPORTS = (
    _two("PRelu", 7, _prelu),
    _two("Tile", 6, _tile),
    _two("Expand", 8, _expand),
    Import(
        op_type="CenterCropPad",
        since=18,
        attributes={"axes": "INTS"},
        convert=_center_crop_pad,
        min_inputs=2,
        max_inputs=2,
    ),
    Import(op_type="Celu", since=12, attributes={"alpha": "FLOAT"}, convert=_celu),
    Import(op_type="Mean", since=8, attributes={}, convert=_mean, max_inputs=2**31),
    *_reduce("ReduceL1", ("Abs",), ()),
    *_reduce("ReduceL2", ("Mul",), ("Sqrt",)),
    *_reduce("ReduceSumSquare", ("Mul",), ()),
    *_reduce("ReduceLogSum", (), ("Log",)),
    Import(op_type="DepthToSpace", since=1, attributes={"blocksize": "INT"}, convert=partial(_blocks, True)),
    Import(
        op_type="DepthToSpace",
        since=11,
        attributes={"blocksize": "INT", "mode": "STRING"},
        convert=partial(_blocks, True),
    ),
    Import(op_type="SpaceToDepth", since=1, attributes={"blocksize": "INT"}, convert=partial(_blocks, False)),
    Import(
        op_type="SpaceToDepth",
        since=28,
        attributes={"blocksize": "INT", "mode": "STRING"},
        convert=partial(_blocks, False),
    ),
    Import(op_type="LRN", since=1, attributes=_LRN, convert=_lrn),
    Import(op_type="LpNormalization", since=1, attributes={"axis": "INT", "p": "INT"}, convert=_lp_normalization),
    Import(op_type="Hardmax", since=1, attributes={"axis": "INT"}, convert=_hardmax),
    Import(op_type="ReduceLogSumExp", since=1, attributes=_AXES, convert=_log_sum_exp),
    Import(op_type="ReduceLogSumExp", since=18, attributes=_AXES_INPUT, convert=_log_sum_exp, max_inputs=2),
)
