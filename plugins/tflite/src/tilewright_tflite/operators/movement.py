"""Knows operators that only move, select, repeat or pad elements: they work on what is stored, whatever it stands for.
Does not know arithmetic.

The shape of a result is the one that the file declares; ONNX's rules hold it against what the operator makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tilewright_tflite.conversion import Conversion, conversion
from tilewright_tflite.errors import RefusedError
from tilewright_tflite.model import Operator, Tensor
from tilewright_tflite.network import Network
from tilewright_tflite.onnx_types import ONNX_TYPES
from tilewright_tflite.operators.elementwise import activated

_REFLECT, _END = 0, 2**31 - 1
_INT64 = ONNX_TYPES["int64"]
_ROWS = 1 << 16  # that are named one by one


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise RefusedError(f"it names axis {axis}, of {rank}")
    return axis % rank


def _reshape(op: Operator, net: Network) -> None:
    """RESHAPE, SQUEEZE, EXPAND_DIMS."""
    output = net.output(op)
    net.put_stored(output, net.reshaped(net.stored(net.input(op, 0)), output.shape))


def _transpose(op: Operator, net: Network) -> None:
    perm = net.need_integers(op, 1)
    net.put_stored(net.output(op), net.moved(net.stored(net.input(op, 0)), perm))


def _concatenation(op: Operator, net: Network) -> None:
    parts, output = [net.input(op, index) for index in range(len(op.inputs))], net.output(op)
    axis, act = net.axis(axis_of(op.options.integer(0), len(output.shape)), output), op.options.byte(1)
    if act == 0 and all(part.same_scale(output) for part in parts):
        net.put_stored(output, net.node("Concat", [net.stored(part) for part in parts], axis=axis))
    else:
        value = net.node("Concat", [net.real(part) for part in parts], axis=axis)
        net.put(output, activated(net, value, act))


def _split(op: Operator, net: Network) -> None:
    """SPLIT (axis, value), SPLIT_V (value, sizes, axis)."""
    value, which = (1, 0) if op.code == "SPLIT" else (0, 2)
    x = net.input(op, value)
    (axis,) = net.need_integers(op, which)
    _parts(op, net, net.stored(x), axis_of(axis, len(x.shape)), squeezed=False)


def _parts(op: Operator, net: Network, value: str, axis: int, *, squeezed: bool) -> None:
    """The value cut along an axis into all outputs; `squeezed` ones have no such axis."""
    outputs = [net.output(op, index) for index in range(len(op.outputs))]
    if any(axis >= len(output.shape) for output in outputs) and not squeezed:
        raise RefusedError(f"an output has no axis {axis}")
    sizes = net.integers([1 if squeezed else output.shape[axis] for output in outputs], "sizes")
    names = [net.fresh(f"{op.title}/part_{index}") for index in range(len(outputs))]
    for output, part in zip(outputs, net.split("Split", (value, sizes), names, axis=axis), strict=True):
        net.put_stored(output, net.reshaped(part, output.shape) if squeezed else part)


def _pack(op: Operator, net: Network) -> None:
    output = net.output(op)
    axis = axis_of(op.options.integer(1), len(net.input(op, 0).shape) + 1)
    parts = []
    for index in range(len(op.inputs)):
        part = net.input(op, index)
        parts.append(net.reshaped(net.stored(part), (*part.shape[:axis], 1, *part.shape[axis:])))
    net.put_stored(output, net.node("Concat", parts, axis=axis))


def _unpack(op: Operator, net: Network) -> None:
    x = net.input(op, 0)
    _parts(op, net, net.stored(x), axis_of(op.options.integer(1), len(x.shape)), squeezed=True)


def _slice(op: Operator, net: Network) -> None:
    x, output, starts = net.input(op, 0), net.output(op), net.need_integers(op, 1)
    if not len(starts) == len(x.shape) == len(output.shape):
        raise RefusedError(f"it begins at {list(starts)} of {x.described}")
    ends = [start + size for start, size in zip(starts, output.shape, strict=True)]
    net.put_stored(output, sliced(net, net.stored(x), starts, ends))


def sliced(net: Network, value: str, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int] = ()) -> str:
    """A part of a value along its first axes."""
    axes = net.integers(range(len(starts)), "axes")
    stride = (net.integers(steps, "steps"),) if steps else ()
    return net.node("Slice", (value, net.integers(starts, "starts"), net.integers(ends, "ends"), axes, *stride))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Masks:
    """What single bits say about the places of a strided slice."""

    first: int  # it begins where the axis does
    last: int  # it ends where the axis does
    rest: int  # it stands for all axes that no other stands for
    new: int  # it makes an axis
    single: int  # it takes one element, whose axis goes
    relative: bool  # ends are counted from where they begin


def _strided_slice(op: Operator, net: Network) -> None:
    x, output = net.input(op, 0), net.output(op)
    masks = _Masks(
        **{name: op.options.integer(bit) for bit, name in enumerate(("first", "last", "rest", "new", "single"))},
        relative=op.options.flag(5),
    )
    starts, ends, steps = (net.need_integers(op, index) for index in (1, 2, 3))
    count, rank = len(starts), len(x.shape)
    places = [place for place in range(count) if not (masks.new | masks.rest) >> place & 1]
    if not count == len(ends) == len(steps) or 0 in steps or len(places) > rank or masks.rest & (masks.rest - 1):
        raise RefusedError(f"it takes {list(starts)} to {list(ends)} by {list(steps)} of {x.described}")
    axes: list[tuple[int, int, int]] = []
    for place in range(count):
        if masks.rest >> place & 1:
            axes += [(0, extent, 1) for extent in x.shape[len(axes) : len(axes) + rank - len(places)]]
        elif not masks.new >> place & 1:
            axes.append(_span(masks, place, (starts[place], ends[place], steps[place]), x.shape[len(axes)]))
    value = sliced(net, net.stored(x), *zip(*axes, strict=True)) if axes else net.stored(x)
    net.put_stored(output, net.reshaped(value, output.shape) if masks.single or masks.new else value)


def _span(masks: _Masks, place: int, span: tuple[int, int, int], extent: int) -> tuple[int, int, int]:
    """Begin, end and step on one axis, as ONNX counts them."""
    begin, end, step = span
    bit = 1 << place
    if masks.relative:
        end += begin
    if masks.single & bit:
        begin += extent if begin < 0 else 0
        return begin, begin + 1, 1
    if masks.first & bit:
        begin = 0 if step > 0 else extent - 1
    if masks.last & bit:
        end = extent if step > 0 else -_END
    return begin, end, step


def _gather(op: Operator, net: Network) -> None:
    x, indices = net.input(op, 0), net.input(op, 1)
    axis, shared = axis_of(op.options.integer(0), len(x.shape)), op.options.integer(1)
    if shared:
        if not 0 < shared == axis <= len(indices.shape):
            raise RefusedError(f"it selects along axis {axis}, behind {shared} axes that both have")
        single = net.node("Cast", (net.reshaped(net.stored(indices), (*indices.shape, 1)),), to=_INT64)
        picked = net.node("GatherND", (net.stored(x), single), batch_dims=shared)
        net.put_stored(net.output(op), picked)
        return
    net.put_stored(net.output(op), net.node("Gather", (net.stored(x), net.stored(indices)), axis=axis))


def _gather_nd(op: Operator, net: Network) -> None:
    indices = net.node("Cast", (net.stored(net.input(op, 1)),), to=_INT64)
    net.put_stored(net.output(op), net.node("GatherND", (net.stored(net.input(op, 0)), indices)))


def pairs(op: Operator, net: Network, index: int, rank: int) -> list[tuple[int, int]]:
    """How many elements are added, or cut, before and behind each axis."""
    amounts = net.need_integers(op, index)
    if len(amounts) != 2 * rank or any(amount < 0 for amount in amounts):
        raise RefusedError(f"its amounts are {list(amounts)}, for {rank} axes")
    return list(zip(amounts[::2], amounts[1::2], strict=True))


def padded(net: Network, tensor: Tensor, value: str, amounts: Sequence[tuple[int, int]], fill: str = "") -> str:
    """A stored value with more elements around it: those that stand for 0, unless `fill` is another."""
    if not fill:
        kind = "float32" if tensor.type == "float32" else tensor.type
        fill = net.constant(np.array(tensor.zero_point if tensor.quantised else 0, kind), "zero")
    pads = net.integers([*(before for before, _ in amounts), *(behind for _, behind in amounts)], "pads")
    return net.node("Pad", (value, pads, fill), mode="constant")


def _pad(op: Operator, net: Network) -> None:
    """PAD, PADV2 (with a value)."""
    x = net.input(op, 0)
    amounts = pairs(op, net, 1, len(x.shape))
    fill = ""
    if net.has(op, 2):
        array = net.need(op, 2)
        if array.size != 1 or not net.input(op, 2).same_scale(x):
            raise RefusedError("what it pads with is no element like those of its input")
        fill = net.constant(array.reshape(()), "fill")
    output = net.output(op)
    net.put_stored(output, padded(net, x, net.stored(x), amounts, fill))
    if len(amounts) == 4 and amounts[0] == amounts[3] == (0, 0) and not fill and x.same_scale(output):
        (_, (top, bottom), (left, right), _) = amounts
        net.padded[output.index] = x, [top, left, bottom, right]


def _mirror_pad(op: Operator, net: Network) -> None:
    x, symmetric = net.input(op, 0), op.options.byte(0) != _REFLECT
    value = net.stored(x)
    for axis, (before, behind) in enumerate(pairs(op, net, 1, len(x.shape))):
        extent = x.shape[axis]
        if max(before, behind) > extent - (not symmetric):
            raise RefusedError(f"it mirrors more of axis {axis} than there is")
        if extent > _ROWS:
            raise RefusedError(f"it mirrors an axis of {extent:,}")
        if before or behind:
            places = np.pad(np.arange(extent), (before, behind), "symmetric" if symmetric else "reflect")
            value = net.node("Gather", (value, net.integers([int(each) for each in places], "mirror")), axis=axis)
    net.put_stored(net.output(op), value)


def _tile(op: Operator, net: Network) -> None:
    net.put_stored(
        net.output(op),
        net.node("Tile", (net.stored(net.input(op, 0)), net.integers(net.need_integers(op, 1), "times"))),
    )


def _expand(op: Operator, net: Network) -> None:
    """BROADCAST_TO (value, shape), FILL (shape, value)."""
    output = net.output(op)
    value = net.stored(net.input(op, 1 if op.code == "FILL" else 0))
    net.put_stored(output, net.node("Expand", (value, net.integers(output.shape, "shape"))))


def _reverse(op: Operator, net: Network) -> None:
    x = net.input(op, 0)
    value = net.stored(x)
    for axis in net.need_integers(op, 1):
        places = range(x.shape[axis_of(axis, len(x.shape))])[::-1]
        value = net.node("Gather", (value, net.integers(places, "backwards")), axis=axis_of(axis, len(x.shape)))
    net.put_stored(net.output(op), value)


def _shape(op: Operator, net: Network) -> None:
    output = net.output(op)
    net.put_known(output, np.array(net.input(op, 0).shape, output.type if output.type == "int64" else np.int32))


def _rank(op: Operator, net: Network) -> None:
    net.put_known(net.output(op), np.array(len(net.input(op, 0).shape), np.int32))


def _broadcast_args(op: Operator, net: Network) -> None:
    """The shape that two shapes have together."""
    output = net.output(op)
    try:
        shape = np.broadcast_shapes(net.need_integers(op, 0), net.need_integers(op, 1))
    except ValueError as error:
        raise RefusedError("its shapes do not fit each other") from error
    net.put_known(output, np.array(shape, output.type))


def _zeros_like(op: Operator, net: Network) -> None:
    output = net.output(op)
    if output.type not in ("float32", "int32", "int64"):
        raise RefusedError(f"its output is {output.described}")
    zero = net.constant(np.zeros((), output.type), "zero")
    net.put_stored(output, net.node("Expand", (zero, net.integers(output.shape, "shape"))))


CONVERSIONS: tuple[Conversion, ...] = (
    conversion("RESHAPE", _reshape),
    conversion("SQUEEZE", _reshape),
    conversion("EXPAND_DIMS", _reshape),
    conversion("TRANSPOSE", _transpose),
    conversion("CONCATENATION", _concatenation, 10),
    conversion("SPLIT", _split),
    conversion("SPLIT_V", _split),
    conversion("PACK", _pack, 59),
    conversion("UNPACK", _unpack, 64),
    conversion("SLICE", _slice),
    conversion("STRIDED_SLICE", _strided_slice, 32),
    conversion("GATHER", _gather, 23),
    conversion("GATHER_ND", _gather_nd),
    conversion("PAD", _pad),
    conversion("PADV2", _pad),
    conversion("MIRROR_PAD", _mirror_pad, 77),
    conversion("TILE", _tile),
    conversion("BROADCAST_TO", _expand),
    conversion("FILL", _expand),
    conversion("REVERSE_V2", _reverse),
    conversion("SHAPE", _shape),
    conversion("RANK", _rank),
    conversion("BROADCAST_ARGS", _broadcast_args),
    conversion("ZEROS_LIKE", _zeros_like),
)
