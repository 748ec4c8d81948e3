"""Knows how to compute nodes whose inputs are all known: shape arithmetic, evaluated during import.
Does not know targets or kernels; quantisation nodes are never folded here, the integer rewrite needs them.

Results are sized before they are computed, so that a Range or Tile of 2^40 elements is refused, not attempted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.importing import OnnxNode
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, type_name

Array = npt.NDArray[np.generic]
Values = Sequence[Any]  # arrays, None where an optional input is absent
Fold = Callable[[OnnxNode, Values, int], Any]


def fold(node: OnnxNode, inputs: Sequence[Array | None], limit_bytes: int) -> tuple[Array, ...] | None:
    """The outputs of `node`, or None when this operator is not folded.

    Raises InvalidNode for operands that make no sense, RefusedNode for a result beyond `limit_bytes`.
    """
    compute = FOLDS.get(node.op_type) if not node.domain else None
    if compute is None or (inputs and inputs[0] is None):
        return None
    try:
        with np.errstate(all="ignore"):
            result = compute(node, inputs, limit_bytes)
    except (ValueError, IndexError, OverflowError, ZeroDivisionError, np.exceptions.AxisError) as error:
        raise InvalidNode(f"its constant inputs do not fit together: {error}") from error
    outputs = result if isinstance(result, tuple) else (result,)
    return tuple(np.ascontiguousarray(array).reshape(np.shape(array)) for array in outputs)


def _fits(elements: int, item_bytes: int, limit_bytes: int) -> None:
    if elements * item_bytes > limit_bytes:
        raise RefusedNode(
            f"its result of {elements * item_bytes:,} bytes is too large to compute during import "
            f"(limit {limit_bytes:,}, --limit folded=BYTES)"
        )


def _ints(array: Any) -> tuple[int, ...]:
    if array.dtype.kind not in "iu":
        raise InvalidNode(f"a shape or axes input is {array.dtype}, not integer")
    return tuple(int(item) for item in array.reshape(-1))


def _broadcast(compute: Callable[..., Any], node: OnnxNode, inputs: Values, limit: int) -> Any:
    """Element by element."""
    shape = np.broadcast_shapes(*(array.shape for array in inputs))
    _fits(math.prod(shape), max(array.itemsize for array in inputs), limit)
    return compute(*inputs)


def _broadcast_all(compute: Callable[..., Any], node: OnnxNode, inputs: Values, limit: int) -> Any:
    """Element by element, any number of inputs, one after the other."""
    return reduce(lambda left, right: _broadcast(compute, node, (left, right), limit), inputs)


def _divide(a: Any, b: Any) -> Any:
    if a.dtype.kind not in "iu":
        return a / b
    if not np.all(b):
        raise InvalidNode("it divides an integer by the constant 0")
    quotient = a // b
    return quotient + ((a % b != 0) & ((a < 0) != (b < 0))).astype(a.dtype)  # ONNX truncates towards zero


def _modulo(node: OnnxNode, inputs: Values, limit: int) -> Any:
    a, b = inputs
    if a.dtype.kind in "iu" and not np.all(b):
        raise InvalidNode("it takes an integer modulo the constant 0")
    return _broadcast(np.fmod if node.integer("fmod") else np.mod, node, inputs, limit)


def _gather(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, indices = inputs
    axis = _axis(node.integer("axis"), data.ndim)
    extent = data.shape[axis]
    if indices.dtype.kind != "i" or np.any(indices < -extent) or np.any(indices >= extent):
        raise InvalidNode(f"an index is outside axis {axis}, which has {extent} elements")
    _fits(data.size // max(extent, 1) * indices.size, data.itemsize, limit)
    return np.take(data, indices, axis=axis)


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidNode(f"axis {axis} is outside a tensor of {rank} dimensions")
    return axis % rank


def _axes(node: OnnxNode, inputs: Values) -> tuple[int, ...] | None:
    """The axes, from the input (newer opsets) or the attribute (older ones); None when they are left out."""
    if len(inputs) > 1 and inputs[1] is not None:
        return _ints(inputs[1])
    return node.integers("axes") if "axes" in node.attributes else None


def _concat(node: OnnxNode, inputs: Values, limit: int) -> Any:
    _fits(sum(array.size for array in inputs), inputs[0].itemsize, limit)
    return np.concatenate(inputs, axis=node.integer("axis", 1))


def _slice(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data = inputs[0]
    if "starts" in node.attributes:
        starts, ends, axes = (node.integers(name) for name in ("starts", "ends", "axes"))
        steps: tuple[int, ...] = ()
    else:
        starts, ends, axes, steps = (
            () if array is None else _ints(array) for array in (*inputs[1:], None, None, None, None)[:4]
        )
    axes = axes or tuple(range(len(starts)))
    steps = steps or (1,) * len(starts)
    cuts = [slice(None)] * data.ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        if not step:
            raise InvalidNode("a slice has step 0")
        position, extent = _axis(axis, data.ndim), data.shape[_axis(axis, data.ndim)]
        stop = None if step < 0 and end < -extent else end
        cuts[position] = slice(start, stop, step)
    return data[tuple(cuts)]


def _range(node: OnnxNode, inputs: Values, limit: int) -> Any:
    start, stop, step = (array.reshape(()).item() for array in inputs)
    if not step or not all(map(math.isfinite, (start, stop, step))):
        raise InvalidNode(f"a range from {start} to {stop} in steps of {step} has no end")
    dtype = inputs[0].dtype
    count = max(ceil_div(stop - start, step), 0) if dtype.kind in "iu" else max(math.ceil((stop - start) / step), 0)
    _fits(int(count), dtype.itemsize, limit)
    return (start + np.arange(count) * step).astype(dtype)


def _constant_of_shape(node: OnnxNode, inputs: Values, limit: int) -> Any:
    value: Any = node.attributes.get("value", np.zeros(1, np.float32))
    if value.size != 1:
        raise InvalidNode("attribute value must have one element")
    shape = _positive(_ints(inputs[0]))
    _fits(math.prod(shape), value.itemsize, limit)
    return np.full(shape, value.reshape(()), value.dtype)


def _positive(shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(extent < 0 for extent in shape):
        raise InvalidNode(f"a shape has a negative dimension: {list(shape)}")
    return shape


def _expand(node: OnnxNode, inputs: Values, limit: int) -> Any:
    shape = np.broadcast_shapes(inputs[0].shape, _positive(_ints(inputs[1])))
    _fits(math.prod(shape), inputs[0].itemsize, limit)
    return np.broadcast_to(inputs[0], shape)


def _tile(node: OnnxNode, inputs: Values, limit: int) -> Any:
    repeats = _positive(_ints(inputs[1]))
    if len(repeats) != inputs[0].ndim:
        raise InvalidNode(f"{len(repeats)} repeats for {inputs[0].ndim} dimensions")
    _fits(inputs[0].size * math.prod(repeats), inputs[0].itemsize, limit)
    return np.tile(inputs[0], repeats)


def _reshape(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, shape = inputs[0], list(_ints(inputs[1]))
    if not node.integer("allowzero"):
        shape = [extent if extent else data.shape[axis] for axis, extent in enumerate(shape)]
    return data.reshape(shape)


def _flatten(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, axis = inputs[0], node.integer("axis", 1)
    axis = axis if axis == data.ndim else _axis(axis, data.ndim)
    return data.reshape(math.prod(data.shape[:axis]), math.prod(data.shape[axis:]))


def _cast(node: OnnxNode, inputs: Values, limit: int) -> Any:
    target = node.integer("to")
    if target not in ELEMENT_TYPES:
        raise RefusedNode(f"it casts to {type_name(target)}, which tilewright does not hold")
    _fits(inputs[0].size, ELEMENT_TYPES[target].size_bytes, limit)
    return inputs[0].astype(ELEMENT_TYPES[target].numpy)


def _reduce(compute: Callable[..., Any], node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, axes = inputs[0], _axes(node, inputs)
    if not axes and node.integer("noop_with_empty_axes"):
        return data
    selected = tuple(_axis(axis, data.ndim) for axis in axes) if axes else None
    return compute(data, axis=selected, keepdims=bool(node.integer("keepdims", 1))).astype(data.dtype)


def _split(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, count = inputs[0], len(node.outputs)
    axis = _axis(node.integer("axis"), data.ndim)
    wanted = _ints(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else node.integers("split")
    piece = ceil_div(data.shape[axis], count)
    sizes = wanted or tuple(min(piece, data.shape[axis] - start * piece) for start in range(count))
    if len(sizes) != count or sum(sizes) != data.shape[axis] or min(sizes) < 0:
        raise InvalidNode(f"pieces {list(sizes)} do not make up axis {axis} of {data.shape[axis]}")
    return tuple(np.split(data, np.cumsum(sizes[:-1]), axis=axis))


def _non_zero(node: OnnxNode, inputs: Values, limit: int) -> Any:
    _fits(inputs[0].size * max(inputs[0].ndim, 1), 8, limit)
    return np.array(np.nonzero(np.atleast_1d(inputs[0])), np.int64)


_ELEMENTWISE: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Div": _divide,
        "Pow": lambda a, b: np.power(a.astype(np.float64), b).astype(a.dtype),
        "Neg": np.negative,
        "Abs": np.abs,
        "Sign": np.sign,
        "Floor": np.floor,
        "Ceil": np.ceil,
        "Round": np.rint,
        "Sqrt": np.sqrt,
        "Not": np.logical_not,
        "And": np.logical_and,
        "Or": np.logical_or,
        "Xor": np.logical_xor,
        "Equal": np.equal,
        "Greater": np.greater,
        "Less": np.less,
        "GreaterOrEqual": np.greater_equal,
        "LessOrEqual": np.less_equal,
        "Where": np.where,
    }
)

FOLDS: Mapping[str, Fold] = MappingProxyType(
    {
        **{op_type: partial(_broadcast, compute) for op_type, compute in _ELEMENTWISE.items()},
        "Mod": _modulo,
        "Min": partial(_broadcast_all, np.minimum),
        "Max": partial(_broadcast_all, np.maximum),
        "Gather": _gather,
        "Squeeze": lambda node, inputs, limit: np.squeeze(inputs[0], axis=_axes(node, inputs)),
        "Unsqueeze": lambda node, inputs, limit: np.expand_dims(inputs[0], _axes(node, inputs) or ()),
        "Concat": _concat,
        "Slice": _slice,
        "Split": _split,
        "Range": _range,
        "ConstantOfShape": _constant_of_shape,
        "Expand": _expand,
        "Tile": _tile,
        "Reshape": _reshape,
        "Flatten": _flatten,
        "Transpose": lambda node, inputs, limit: np.transpose(inputs[0], node.integers("perm") or None),
        "Cast": _cast,
        "ReduceSum": partial(_reduce, np.sum),
        "ReduceProd": partial(_reduce, np.prod),
        "ReduceMin": partial(_reduce, np.min),
        "ReduceMax": partial(_reduce, np.max),
        "NonZero": _non_zero,
    }
)
