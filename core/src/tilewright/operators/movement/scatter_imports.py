"""Knows how ONNX's Scatter, ScatterElements and ScatterND become a Scatter: places in X, row-major, from their indices.
Does not know how updates are combined.

Source: ONNX Scatter-9, ScatterElements-11 to 18, ScatterND-11 to 18. A negative index counts from the end. One outside
X is refused where it is known; where it is not, its place becomes -1, and the update is left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.import_checks import need_axis

Places = npt.NDArray[np.int64]
_REDUCTIONS = ("none", "add", "mul", "max", "min")


def _import_elements(node: OnnxNode, graph: Conversion) -> None:
    x, indices = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    axis = need_axis(node, graph, node.integer("axis"), len(x.shape))
    if indices.shape != graph.tensor(node.inputs[2]).shape or len(indices.shape) != len(x.shape):
        raise graph.refuse(node, "indices and updates have one shape, with as many axes as data")
    if any(n > m for at, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)) if at != axis):
        raise graph.refuse(node, f"indices are larger than data along an axis other than {axis}")
    strides = _strides(x.shape)
    own = [extent if at != axis else 1 for at, extent in enumerate(indices.shape)]
    grid = np.indices(own, sparse=True) if own else ()
    starts = np.zeros(own, np.int64)
    for one, step in zip(grid, strides, strict=True):
        starts = starts + one * step
    starts = np.broadcast_to(starts, indices.shape).reshape(-1)
    flat = _flat(node, graph, node.inputs[1], (indices.elements,), "indices")
    _emit(node, graph, _places(node, graph, [flat], [x.shape[axis]], [strides[axis]], starts), 1)


def _import_nd(node: OnnxNode, graph: Conversion) -> None:
    x, indices = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    depth = indices.shape[-1] if indices.shape else 0
    if not 1 <= depth <= len(x.shape):
        raise graph.refuse(node, f"indices are {list(indices.shape)} for data with {len(x.shape)} axes")
    if graph.tensor(node.inputs[2]).shape != (*indices.shape[:-1], *x.shape[depth:]):
        raise graph.refuse(node, "updates do not have the shape of the indices' tuples and of data's slices")
    count = indices.elements // depth
    rows = _flat(node, graph, node.inputs[1], (count, depth), "tuples")
    parts = [_column(node, graph, rows, at, count) for at in range(depth)]
    places = _places(node, graph, parts, x.shape[:depth], _strides(x.shape)[:depth], np.zeros(count, np.int64))
    _emit(node, graph, places, math.prod(x.shape[depth:]))


def _strides(shape: Sequence[int]) -> list[int]:
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _flat(node: OnnxNode, graph: Conversion, name: str, shape: tuple[int, ...], hint: str) -> str:
    """Indices as i64 of another shape."""
    known, dtype = graph.constant(name), graph.tensor(name).dtype
    if dtype not in (DType.I32, DType.I64):
        raise graph.refuse(node, f"indices are {dtype.value}; i32 and i64 are taken")
    if known is not None:
        return graph.add_constant(np.asarray(known, np.int64).reshape(shape), hint)
    if dtype is DType.I32:
        name = graph.emit(node, "Cast", (name,), (), {"to": "i64"}, f"{hint}_wide")
    return graph.emit(node, "Reshape", (name,), (), {"shape": shape}, hint)


def _column(node: OnnxNode, graph: Conversion, rows: str, at: int, count: int) -> str:
    known = graph.constant(rows)
    if known is not None:
        return graph.add_constant(np.ascontiguousarray(known[:, at]), f"index_{at}")
    bounds: dict[str, Attribute] = {"starts": (0, at), "steps": (1, 1), "shape": (count, 1)}
    cut = graph.emit(node, "Slice", (rows,), (), bounds, f"cut_{at}")
    return graph.emit(node, "Reshape", (cut,), (), {"shape": (count,)}, f"index_{at}")


def _places(
    node: OnnxNode,
    graph: Conversion,
    parts: Sequence[str],
    extents: Sequence[int],
    strides: Sequence[int],
    starts: Places,
) -> str:
    """The sum of `starts` and of indices times strides; -1 where an index is outside its extent."""
    known = [graph.constant(part) for part in parts]
    arrays = [np.asarray(array, np.int64) for array in known if array is not None]
    if len(arrays) == len(parts):
        return graph.add_constant(_known_places(node, graph, arrays, extents, strides, starts), "places")

    def number(value: int) -> str:
        return graph.add_constant(np.full(1, value, np.int64), "number")

    place, inside = graph.add_constant(starts, "starts"), ""
    for at, (part, extent, stride) in enumerate(zip(parts, extents, strides, strict=True)):
        below = graph.emit(node, "Less", (part, number(0)), hint=f"below_{at}")
        counted = graph.emit(node, "Add", (part, number(extent)), hint=f"counted_{at}")
        front = graph.emit(node, "Where", (below, counted, part), hint=f"front_{at}")
        for op, limit in (("GreaterOrEqual", 0), ("Less", extent)):
            fits = graph.emit(node, op, (front, number(limit)), hint=f"fits_{at}")
            inside = graph.emit(node, "And", (inside, fits), hint=f"inside_{at}") if inside else fits
        scaled = graph.emit(node, "Mul", (front, number(stride)), hint=f"scaled_{at}")
        place = graph.emit(node, "Add", (place, scaled), hint=f"place_{at}")
    return graph.emit(node, "Where", (inside, place, number(-1)), hint="places")


def _known_places(
    node: OnnxNode,
    graph: Conversion,
    arrays: Sequence[Places],
    extents: Sequence[int],
    strides: Sequence[int],
    starts: Places,
) -> Places:
    places = starts
    for indices, extent, stride in zip(arrays, extents, strides, strict=True):
        if np.any(indices < -extent) or np.any(indices >= extent):
            raise graph.refuse(node, f"an index is outside an axis of {extent} elements")
        places = places + np.where(indices < 0, indices + extent, indices) * stride
    return places


def _emit(node: OnnxNode, graph: Conversion, places: str, elements: int) -> None:
    reduction = node.text("reduction", "none")
    if reduction not in _REDUCTIONS:
        raise graph.refuse(node, f"reduction {reduction!r} is none of {', '.join(_REDUCTIONS)}")
    attributes: dict[str, Attribute] = {"reduction": reduction, "slice": elements}
    graph.emit(node, "Scatter", (node.inputs[0], places, node.inputs[2]), node.outputs, attributes)


_AXIS = {"axis": "INT"}
_REDUCED = {"reduction": "STRING"}
_three = partial(Import, min_inputs=3, max_inputs=3)
_elements, _nd = partial(_three, convert=_import_elements), partial(_three, convert=_import_nd)

IMPORTS = (
    _elements(op_type="Scatter", since=9, attributes=_AXIS),
    _elements(op_type="ScatterElements", since=11, attributes=_AXIS),
    _elements(op_type="ScatterElements", since=16, attributes={**_AXIS, **_REDUCED}),
    _nd(op_type="ScatterND", since=11, attributes={}),
    _nd(op_type="ScatterND", since=16, attributes=_REDUCED),
)
