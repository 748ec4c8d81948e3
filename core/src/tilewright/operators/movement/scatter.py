"""Knows ScatterElements and ScatterND: a copy of X in which elements at indexed positions are replaced or combined.
Does not know gathering (`gather`).

Normal form: an index for each update, in the order of updates: `I[U]` (i64) is a place in X, row-major, of a slice of
`U[..., slice]`; ScatterElements has slices of one element. Attributes `reduction` ("none", "add", "mul", "max", "min")
and `slice`, elements. Later updates of a place come after earlier ones. A place outside X changes nothing.

Source: ONNX Scatter-9, ScatterElements-11 to 18, ScatterND-11 to 18. A negative index counts from the end. One outside
X is refused where it is known; where it is not, its place becomes -1, and the update is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_functions, c_template
from tilewright.operators.shared.float_results import UNIT
from tilewright.operators.shared.refusals import need_axis, shape_error
from tilewright.operators.shared.window_imports import MAX_UNPOOL

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
    for coordinate, step in zip(grid, strides, strict=True):
        starts = starts + coordinate * step
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


Array = npt.NDArray[np.generic]

_COMBINE = MappingProxyType({"none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum})


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, places, updates = (site.input(index) for index in range(3))
    if x.dtype is not updates.dtype or len(places.shape) != 1 or places.dtype is not DType.I64:
        raise shape_error(site, "X and U have one type, I[U] is i64")
    if updates.elements != places.elements * site.node.integer("slice", 1):
        raise shape_error(site, f"U has {updates.elements} elements for {places.elements} places")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    y = np.asarray(inputs[0]).copy().reshape(-1)
    places, count = np.asarray(inputs[1], np.int64), site.node.integer("slice", 1)
    updates = np.asarray(inputs[2]).reshape(len(places), count)
    combine = _COMBINE[str(site.node.attributes["reduction"])]
    with np.errstate(all="ignore"):
        for place, update in zip(places.tolist(), updates, strict=True):
            if 0 <= place <= y.size - count:
                cut = slice(place, place + count)
                y[cut] = update if combine is None else combine(y[cut], update)
    return (y.reshape(site.output.shape),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """Sums and products are rounded as the reference rounds them, in the same order; 1 ULP for contracted ones."""
    (y,) = _reference(site, inputs)
    return (np.abs(y.astype(np.float64)) * 2 * UNIT if y.dtype == np.float32 else None,)


def _access(site: Site) -> Access:
    """Any update may belong anywhere."""
    shapes = {**{name: site.input(index).shape for index, name in enumerate("XIU")}, "Y": site.output.shape}
    x, i, u, y = (f"{name}[{','.join(':' * len(shape))}]" for name, shape in shapes.items())
    return parse_map(f": {x} {i} {u} -> {y}").bind(shapes)


def _match(site: Site) -> str | None:
    dtype = site.output.dtype
    if dtype is DType.F64 or (dtype is DType.BOOL and site.node.attributes["reduction"] != "none"):
        return f"X is {dtype.value}; the portable kernel combines f32 and integers"
    return None


def _values(call: Call) -> Mapping[str, object]:
    operands, dtype = call.operands, call.operands["Y"].dtype
    reduction = str(call.site.node.attributes["reduction"])
    expression = _expression(reduction, dtype)
    return {
        "function": f"tw_scatter_{reduction}_{dtype.value}",
        "c_type": dtype.c_type,
        "expression": expression,
        "elements": math.prod(operands["Y"].shape),
        "count": operands["I"].shape[0],
        "slice": call.site.node.integer("slice", 1),
    }


def _expression(reduction: str, dtype: DType) -> str:
    """C over `old` and `update`."""
    if reduction == "none":
        return "update"
    if dtype is DType.F32:
        symbols = {"add": "old + update", "mul": "old * update"}
        return symbols.get(reduction) or f"tw_{reduction}_f32(old, update)"
    if reduction in ("max", "min"):
        return f"old {'>' if reduction == 'max' else '<'} update ? old : update"
    wide = f"uint{64 if dtype.size_bytes == 8 else 32}_t"
    return f"({dtype.c_type})(({wide})old {'+' if reduction == 'add' else '*'} ({wide})update)"


def _row_major(site: Site) -> Mapping[str, tuple[int, ...]]:
    shapes = {"X": site.input(0).shape, "U": site.input(2).shape, "Y": site.output.shape}
    return {name: tuple(range(len(shape))) for name, shape in shapes.items()}


_SCATTER = c_template("${function}", "scatter.c.mako")

SCATTER = Operator(
    name="Scatter",
    inputs=("X", "I", "U"),
    outputs=("Y",),
    summary="X with elements or slices replaced, or combined, at places that are indexed",
    infer=_infer,
    reference=_reference,
    access=_access,
    tolerance=_tolerance,
    imports=(*IMPORTS, *MAX_UNPOOL),
)

SCATTER_PORTABLE = Kernel(
    name="portable.scatter",
    op="Scatter",
    match=_match,
    requires=_row_major,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=lambda values: (*c_functions(values["expression"]), _SCATTER),
    call="${function}(${elements}, ${count}, ${slice}, ${X}, ${I}, ${U}, ${Y});",
)

OPERATORS = (SCATTER,)
KERNELS = (SCATTER_PORTABLE,)
