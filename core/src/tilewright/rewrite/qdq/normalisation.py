"""Knows how rows that are normalised between quantised values become a QLayerNormalization, with scales and shifts of
channels behind it: LayerNormalization, RMSNormalization, and what InstanceNormalization and GroupNormalization become.
Does not know how the integers compute; `operators/quantised/qlayernorm` does.

Sums before the last shift are off by a few parts of 2**-shift of a step, so a result is at most one step off what the
real numbers give, and that only so close to a half.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.operators.quantised.qlayernorm import LONGEST, most_bits, most_epsilon_bits
from tilewright.operators.reductions.layernorm_imports import EPSILON
from tilewright.rewrite.qdq.affine import Affine
from tilewright.rewrite.qdq.channels import constant_of
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Work

if TYPE_CHECKING:
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]

ROWS = ("LayerNormalization", "RMSNormalization")
_BEHIND = ("Add", "Div", "Mul", "Reshape", "Sub")
_MOST = 1 << 22  # elements of a scale that is written out for all of them
_REACH = 2.0**25  # of a result before its shift; factors have five bits more
_LEAST, _LEAST_OF_WORDS = 8, 5  # bits that the shift takes


def lower_normalisation(island: Island, main: Node, work: Work) -> Lowered | None:
    """Reshape, QLayerNormalization, Reshape; None where no rows are normalised before `main`."""
    chain = _chain(island, main)
    if chain is None:
        return None
    normal, behind = chain
    x = island.stored(normal.inputs[0])
    if isinstance(x, str):
        return x
    shape, output = island.graph.tensors[x.value].shape, island.graph.tensors[island.source].shape
    if math.prod(shape) > _MOST or not 1 <= shape[-1] <= LONGEST:
        return f"it has no integer form for rows of {shape[-1]} elements"
    applied = _applied(island, normal, behind)
    if isinstance(applied, str):
        return applied
    seen = _view(output, math.prod(shape[:-1]))
    scale, shift = (_squeezed(array.reshape(seen[0])) for array in applied)
    view = (shape, len(shape) - 1) if shape == output else _joined(*seen, scale, shift)
    if len(view[0]) - view[1] > 2:
        return "it has no integer form for numbers that vary along these axes"
    if shape != output:
        scale, shift = (_squeezed(np.broadcast_to(array, seen[0]).reshape(view[0])) for array in (scale, shift))
    numbers = _numbers(island, normal, x.affine, shape[-1], (scale, shift))
    if isinstance(numbers, str):
        return numbers
    constants, attributes = numbers
    hint = island.quantize.outputs[0]
    held = tuple(work.draft.constant(array, f"{hint}_normal") for array in constants)
    node = island.integer_node(
        "QLayerNormalization", (x.value, *held), {**attributes, "axis": view[1]}, x.node, normal, *behind[:-1]
    )
    return node if shape == output else _reshaped(island, work, node, shape, view[0])


def _chain(island: Island, main: Node) -> tuple[Node, tuple[Node, ...]] | None:
    """The node that normalises rows, and those behind it up to `main`, first to last."""
    behind: list[Node] = []
    node: Node | None = main
    while node is not None and node.op in _BEHIND:
        if node is not main and not island.view.read_once(node.outputs[0]):
            return None
        if "clip_low" in node.attributes and node is not main:
            return None
        behind.insert(0, node)
        computed = [name for name in node.inputs if constant_of(island.view, name) is None]
        node = island.view.producer.get(computed[0]) if len(computed) == 1 else None
    if node is None or node.op not in ROWS or (behind and not island.view.read_once(node.outputs[0])):
        return None
    return node, tuple(behind)


def _applied(island: Island, normal: Node, behind: tuple[Node, ...]) -> tuple[Doubles, Doubles] | str:
    """Factor and addend of every element of the result: what stands behind the division by the deviation."""
    shape = island.graph.tensors[normal.outputs[0]].shape
    scale, shift = np.ones(shape), np.zeros(shape)
    for index, name in enumerate(normal.inputs[1:]):
        array = constant_of(island.view, name) if name else None
        if name and array is None:
            return f"the scale or bias {name!r} is not constant"
        if array is not None and index == 0:
            scale = scale * array
        elif array is not None:
            shift = shift + array
    with np.errstate(all="ignore"):
        for node in behind:
            scale, shift = _step(island, node, scale, shift)
            if scale.shape != island.graph.tensors[node.outputs[0]].shape:
                return "it has no integer form where constants broadcast it"
    if not (np.all(np.isfinite(scale)) and np.all(np.isfinite(shift))):
        return "its scales are not finite"
    return scale, shift


def _step(island: Island, node: Node, scale: Doubles, shift: Doubles) -> tuple[Doubles, Doubles]:
    if node.op == "Reshape":
        shape = island.graph.tensors[node.outputs[0]].shape
        return scale.reshape(shape), shift.reshape(shape)
    left, right = (constant_of(island.view, name) for name in node.inputs)
    constant = right if left is None else left
    if constant is None:
        return scale, shift
    if node.op == "Mul":
        return np.asarray(scale * constant), np.asarray(shift * constant)
    if node.op == "Div":
        broken = np.full(scale.shape, np.inf)  # a constant over the row
        return (np.asarray(scale / constant), np.asarray(shift / constant)) if left is None else (broken, broken)
    if node.op == "Sub" and left is not None:
        return np.asarray(np.broadcast_to(-scale, (constant - shift).shape)), np.asarray(constant - shift)
    added = np.asarray(shift - constant if node.op == "Sub" else shift + constant)
    return np.asarray(np.broadcast_to(scale, added.shape)), added


def _view(shape: tuple[int, ...], rows: int) -> tuple[tuple[int, ...], int]:
    """`shape` with an axis cut in two where rows end inside it, and the first axis of a row."""
    before = 1
    for axis, extent in enumerate(shape):
        if before == rows:
            return shape, axis
        if before * extent > rows:
            return (*shape[:axis], rows // before, before * extent // rows, *shape[axis + 1 :]), axis + 1
        before *= extent
    return (*shape, 1), len(shape)


def _squeezed(array: Doubles) -> Doubles:
    """One element along every axis along which nothing varies."""
    for axis in range(array.ndim):
        first = np.take(array, [0], axis)
        if np.array_equal(np.broadcast_to(first, array.shape), array):
            array = first
    return array


def _joined(shape: tuple[int, ...], axis: int, scale: Doubles, shift: Doubles) -> tuple[tuple[int, ...], int]:
    """Axes side by side are one where both vary along them, or neither does."""

    def kind(index: int) -> tuple[bool, bool]:
        return index >= axis, scale.shape[index] != 1 or shift.shape[index] != 1

    extents = [(key[0], math.prod(shape[at] for at in axes)) for key, axes in groupby(range(len(shape)), kind)]
    kept = [(inside, extent) for inside, extent in extents if extent != 1 or inside]
    return tuple(extent for _, extent in kept), sum(not inside for inside, _ in kept)


def _numbers(
    island: Island, normal: Node, x: Affine, length: int, applied: tuple[Doubles, Doubles]
) -> tuple[tuple[npt.NDArray[np.int32], ...], dict[str, Attribute]] | str:
    """F and A, and the attributes but `axis`."""
    y_scale, zero_point = float(island.output.scales()[0]), island.output.zero_point[0]
    x_scale = float(x.scales()[0])
    if not (0 < y_scale < math.inf and 0 < x_scale < math.inf):
        return "its scales are not finite, or not positive"
    scale, shift = applied[0] / y_scale, applied[1] / y_scale + zero_point
    epsilon = (length / x_scale) ** 2 * float(np.float32(normal.number("epsilon", EPSILON)))
    reach = math.sqrt(length) * float(np.abs(scale).max()) + float(np.abs(shift).max()) + 2
    behind = min(24, math.floor(math.log2(_REACH / reach)))
    epsilon_bits, bits = most_epsilon_bits(length, epsilon, x.dtype), most_bits(length)
    if behind < (_LEAST_OF_WORDS if island.output.wide else _LEAST) or round(epsilon * 2.0**epsilon_bits) >= 2**61:
        return "its scales are not finite, or too far apart"
    factor = np.rint(scale * 2.0 ** (behind + 32 - bits)).astype(np.int32)
    addend = np.rint((shift + 0.5) * 2.0**behind + 0.5).astype(np.int32)
    low, high = island.low_high()
    attributes: dict[str, Attribute] = {
        "centred": int(normal.op == "LayerNormalization"),
        "x_zero_point": x.zero_point[0],
        "epsilon": round(epsilon * 2.0**epsilon_bits),
        "epsilon_bits": epsilon_bits,
        "bits": bits,
        "shift": behind,
        "low": low,
        "high": high,
    }
    return (factor, addend), attributes


def _reshaped(
    island: Island, work: Work, node: Node, shape: tuple[int, ...], view: tuple[int, ...]
) -> tuple[Node, ...]:
    """`node` on a view of its input, and its result in its own shape again."""
    (output,) = node.outputs
    name, dtype = node.name, island.graph.tensors[node.inputs[0]].dtype
    source, before = node.inputs[0], list[Node]()
    if shape != view:
        seen = work.draft.value(dtype, view, f"{source}_rows")
        made = work.draft.node_name(f"{name}_rows")
        before = [Node(name=made, op="Reshape", inputs=(source,), outputs=(seen,), attributes={"shape": view})]
        source = seen
    rows = work.draft.value(island.output.dtype, view, f"{output}_rows")
    whole = island.graph.tensors[output].shape
    back = Node(
        name=work.draft.node_name(f"{name}_back"),
        op="Reshape",
        inputs=(rows,),
        outputs=(output,),
        attributes={"shape": whole},
        origin=node.origin,
    )
    before = [replace(each, origin=node.origin) for each in before]
    return (*before, replace(node, inputs=(source, *node.inputs[1:]), outputs=(rows,)), back)
