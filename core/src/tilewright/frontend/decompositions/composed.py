"""Knows operators that are written with others: PRelu, sums of squares, DepthToSpace, CenterCropPad.
Does not know how those others are computed. What is moved and not computed (Tile, DepthToSpace) keeps any type.

Source: the definitions in ONNX's operator documentation; versions are those that changed a signature.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

_AXES = {"axes": "INTS", "keepdims": "INT"}
_AXES_INPUT = {"keepdims": "INT", "noop_with_empty_axes": "INT"}
_MOST_COPIES = 64  # of a tensor, side by side


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
    batch, channels, high, wide = _image(node, graph)
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


def _image(node: OnnxNode, graph: Conversion) -> tuple[int, int, int, int]:
    shape = graph.tensor(node.inputs[0]).shape
    if len(shape) != 4:
        raise graph.refuse(node, f"its input has {len(shape)} axes; four are supported: N, C, H, W")
    batch, channels, high, wide = shape
    return batch, channels, high, wide


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
    repeats = [1 if all_ == one else all_ // one for all_, one in zip(shape, own, strict=True)]
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
)
