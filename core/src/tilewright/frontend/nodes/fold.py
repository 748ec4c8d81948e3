"""Knows how to compute nodes whose inputs are all known: shape arithmetic, evaluated during import.
Does not know targets or kernels; quantisation nodes are never folded here, the integer rewrite needs them.

Results are sized before they are computed, so that a Range or Tile of 2^40 elements is refused, not attempted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.importing import OnnxNode
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.element_types import ELEMENT_TYPES, type_name

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


def _broadcasting(compute: Callable[..., Any]) -> Fold:
    def run(node: OnnxNode, inputs: Values, limit: int) -> Any:
        shape = np.broadcast_shapes(*(array.shape for array in inputs))
        _fits(math.prod(shape), max(array.itemsize for array in inputs), limit)
        return compute(*inputs)

    return run


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
    return _broadcasting(np.fmod if node.integer("fmod") else np.mod)(node, inputs, limit)


def _power(a: Any, b: Any) -> Any:
    return np.power(a.astype(np.float64), b).astype(a.dtype)


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


def _squeeze(node: OnnxNode, inputs: Values, limit: int) -> Any:
    axes = _axes(node, inputs)
    return np.squeeze(inputs[0], axis=axes)


def _unsqueeze(node: OnnxNode, inputs: Values, limit: int) -> Any:
    return np.expand_dims(inputs[0], _axes(node, inputs) or ())


def _concat(node: OnnxNode, inputs: Values, limit: int) -> Any:
    _fits(sum(array.size for array in inputs), inputs[0].itemsize, limit)
    return np.concatenate(inputs, axis=node.integer("axis", 1))


def _slice(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data = inputs[0]
    if "starts" in node.attributes:
        starts, ends, axes = (node.integers(name) for name in ("starts", "ends", "axes"))
        steps: tuple[int, ...] = ()
    else:
        given = [() if array is None else _ints(array) for array in (*inputs[1:], None, None, None, None)[:4]]
        starts, ends, axes, steps = given
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


def _transpose(node: OnnxNode, inputs: Values, limit: int) -> Any:
    return np.transpose(inputs[0], node.integers("perm") or None)


def _cast(node: OnnxNode, inputs: Values, limit: int) -> Any:
    target = node.integer("to")
    if target not in ELEMENT_TYPES:
        raise RefusedNode(f"it casts to {type_name(target)}, which tilewright does not hold")
    _fits(inputs[0].size, ELEMENT_TYPES[target].size_bytes, limit)
    return inputs[0].astype(ELEMENT_TYPES[target].numpy)


def _reduce(compute: Callable[..., Any]) -> Fold:
    def run(node: OnnxNode, inputs: Values, limit: int) -> Any:
        data, axes = inputs[0], _axes(node, inputs)
        if not axes and node.integer("noop_with_empty_axes"):
            return data
        selected = tuple(_axis(axis, data.ndim) for axis in axes) if axes else None
        return compute(data, axis=selected, keepdims=bool(node.integer("keepdims", 1))).astype(data.dtype)

    return run


def _split(node: OnnxNode, inputs: Values, limit: int) -> Any:
    data, count = inputs[0], len(node.outputs)
    axis = _axis(node.integer("axis"), data.ndim)
    given = _ints(inputs[1]) if len(inputs) > 1 and inputs[1] is not None else node.integers("split")
    piece = ceil_div(data.shape[axis], count)
    sizes = given or tuple(min(piece, data.shape[axis] - start * piece) for start in range(count))
    if len(sizes) != count or sum(sizes) != data.shape[axis] or min(sizes) < 0:
        raise InvalidNode(f"pieces {list(sizes)} do not make up axis {axis} of {data.shape[axis]}")
    return tuple(np.split(data, np.cumsum(sizes[:-1]), axis=axis))


def _non_zero(node: OnnxNode, inputs: Values, limit: int) -> Any:
    _fits(inputs[0].size * max(inputs[0].ndim, 1), 8, limit)
    return np.array(np.nonzero(np.atleast_1d(inputs[0])), np.int64)


def _many(compute: Callable[[Any, Any], Any]) -> Fold:
    def run(node: OnnxNode, inputs: Values, limit: int) -> Any:
        result = inputs[0]
        for other in inputs[1:]:
            result = _broadcasting(compute)(node, (result, other), limit)
        return result

    return run


FOLDS = MappingProxyType(
    {
        "Add": _broadcasting(np.add),
        "Sub": _broadcasting(np.subtract),
        "Mul": _broadcasting(np.multiply),
        "Div": _broadcasting(_divide),
        "Mod": _modulo,
        "Pow": _broadcasting(_power),
        "Min": _many(np.minimum),
        "Max": _many(np.maximum),
        "Neg": _broadcasting(np.negative),
        "Abs": _broadcasting(np.abs),
        "Sign": _broadcasting(np.sign),
        "Floor": _broadcasting(np.floor),
        "Ceil": _broadcasting(np.ceil),
        "Round": _broadcasting(np.rint),
        "Sqrt": _broadcasting(np.sqrt),
        "Not": _broadcasting(np.logical_not),
        "And": _broadcasting(np.logical_and),
        "Or": _broadcasting(np.logical_or),
        "Xor": _broadcasting(np.logical_xor),
        "Equal": _broadcasting(np.equal),
        "Greater": _broadcasting(np.greater),
        "Less": _broadcasting(np.less),
        "GreaterOrEqual": _broadcasting(np.greater_equal),
        "LessOrEqual": _broadcasting(np.less_equal),
        "Where": _broadcasting(np.where),
        "Gather": _gather,
        "Squeeze": _squeeze,
        "Unsqueeze": _unsqueeze,
        "Concat": _concat,
        "Slice": _slice,
        "Split": _split,
        "Range": _range,
        "ConstantOfShape": _constant_of_shape,
        "Expand": _expand,
        "Tile": _tile,
        "Reshape": _reshape,
        "Flatten": _flatten,
        "Transpose": _transpose,
        "Cast": _cast,
        "ReduceSum": _reduce(np.sum),
        "ReduceProd": _reduce(np.prod),
        "ReduceMin": _reduce(np.min),
        "ReduceMax": _reduce(np.max),
        "NonZero": _non_zero,
    }
)
