"""Knows Gather, GatherElements and GatherND: slices or elements of X, in the order that a tensor of indices says.
Does not know scattering (`scatter`).

Normal form: Gather and GatherElements have `axis`; constant indices of a Gather in equal steps are a Slice; GatherND is
a Gather of joined axes. A negative index counts from the end. One outside X is refused where it is known, and the
nearest one is taken where it is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.walk import walk
from tilewright.operators.movement.slice import slice_attributes
from tilewright.operators.shared.refusals import need_axis, shape_error

Array = npt.NDArray[np.generic]

_INDICES = (DType.I32, DType.I64)
_SPARSE = 4  # times as many elements as are taken: then each is read where it is


def _axis(site: Site) -> int:
    return site.node.integer("axis") % max(1, len(site.input(0).shape))


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, indices = site.input(0), site.input(1)
    if not -len(x.shape) <= site.node.integer("axis") < len(x.shape):
        raise shape_error(site, f"axis {site.node.integer('axis')} is not an axis of X")
    if indices.dtype not in _INDICES:
        raise shape_error(site, "indices are i32 or i64")
    axis = _axis(site)
    if x.shape[axis] == 0 and indices.elements:
        raise shape_error(site, f"axis {axis} of X has no element to gather")
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, indices = np.asarray(inputs[0]), np.asarray(inputs[1]).astype(np.int64)
    extent = x.shape[_axis(site)]
    positions = np.clip(np.where(indices < 0, indices + extent, indices), 0, max(extent - 1, 0))
    return (np.asarray(np.take(x, positions, axis=_axis(site))),)


def _access(site: Site) -> Access:
    """The gathered axis is whole: any box of Y may need any of it."""
    rank, inner, axis = len(site.input(0).shape), len(site.input(1).shape), _axis(site)
    own = [f"a{number}" for number in range(rank)]
    indices = [f"i{number}" for number in range(inner)]
    loops = [*own[:axis], *indices, *own[axis + 1 :]]
    source = ", ".join(":" if number == axis else name for number, name in enumerate(own))
    text = f"{' '.join(loops)} : X[{source}] I[{', '.join(indices)}] -> Y[{', '.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "I": site.input(1).shape, "Y": site.output.shape})


def _values(call: Call) -> Mapping[str, object]:
    x, indices, y, axis = call.operands["X"], call.operands["I"], call.operands["Y"], _axis(call.site)
    after = len(x.shape) - axis - 1
    loops = walk(
        y.extents,
        {
            "X": (*x.strides[:axis], *(0,) * len(indices.shape), *x.strides[axis + 1 :]),
            "I": (*(0,) * axis, *indices.strides, *(0,) * after),
            "Y": y.strides,
        },
        "Y",
    )
    return {
        "function": f"tw_gather_{y.dtype.value}_{indices.dtype.value}_{loops.depth}",
        "depth": loops.depth,
        "c_type": y.dtype.c_type,
        "index_type": indices.dtype.c_type,
        "arguments": loops.arguments(call.operands, (str(x.shape[axis]), str(x.strides[axis]))),
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    x, indices = graph.tensor(node.inputs[0]), graph.constant(node.inputs[1])
    axis = node.integer("axis")
    if not -len(x.shape) <= axis < len(x.shape):
        raise graph.refuse(node, f"axis {axis} is not an axis of a tensor with {len(x.shape)} axes")
    axis %= len(x.shape)
    if indices is None:
        graph.emit(node, "Gather", node.inputs, node.outputs, {"axis": axis})
        return
    positions = [int(index) + (x.shape[axis] if index < 0 else 0) for index in indices.reshape(-1).tolist()]
    wrong = [position for position in positions if not 0 <= position < x.shape[axis]]
    if wrong:
        raise graph.refuse(node, f"index {wrong[0]} is outside axis {axis}, which has {x.shape[axis]} elements")
    step = _step(positions)
    if indices.ndim > 1 or step == 0:
        graph.emit(node, "Gather", node.inputs, node.outputs, {"axis": axis})
        return
    end = positions[-1] + (1 if step > 0 else -1)
    attributes = slice_attributes(
        x.shape, (axis,), (positions[0],), (end if end >= 0 else -x.shape[axis] - 1,), (step,)
    )
    if indices.ndim == 1:
        graph.emit(node, "Slice", node.inputs[:1], node.outputs, attributes)
        return
    part = graph.emit(node, "Slice", node.inputs[:1], (), attributes, "slice")
    graph.emit(node, "Reshape", (part,), node.outputs, {"shape": (*x.shape[:axis], *x.shape[axis + 1 :])})


def _step(positions: Sequence[int]) -> int:
    """How far apart neighbours are; 0 where they are not equally far, or all the same."""
    steps = {later - earlier for earlier, later in pairwise(positions)}
    if not positions or len(steps) > 1:
        return 0
    return steps.pop() if steps else 1


GATHER = Operator(
    name="Gather",
    inputs=("X", "I"),
    outputs=("Y",),
    summary="slices along an axis, in the order of indices",
    infer=_infer,
    reference=_reference,
    access=_access,
    imports=with_halves(
        Import(op_type="Gather", since=1, attributes={"axis": "INT"}, convert=_import, min_inputs=2, max_inputs=2),
    ),
)


GATHER_COPY = Kernel(
    name="portable.gather",
    op="Gather",
    # A table of which little is used, such as an embedding: copying all of it would take longer, if it fits at all
    stays=lambda site: ("X",) if site.input(0).elements > _SPARSE * site.output.elements else (),
    parallel=("*",),
    values=_values,
    source=(c_template("${function}", "gather.c.mako"),),
    call="${function}(${arguments});",
)


def _positions(indices: Array, extent: int) -> npt.NDArray[np.int64]:
    counted = np.asarray(indices, np.int64)
    return np.clip(np.where(counted < 0, counted + extent, counted), 0, max(extent - 1, 0))


# --- GatherElements


def _infer_elements(site: Site) -> tuple[Tensor, ...]:
    x, indices, axis = site.input(0), site.input(1), site.node.integer("axis")
    if len(x.shape) != len(indices.shape) or not 0 <= axis < len(x.shape) or indices.dtype not in _INDICES:
        raise shape_error(site, f"I is i32 or i64 and has as many axes as X; axis {axis} is one of them")
    wide = [n > m for at, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)) if at != axis]
    if any(wide) or (x.shape[axis] == 0 and indices.elements):
        raise shape_error(site, "I is larger than X along another axis, or there is nothing to gather")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=indices.shape),)


def _elements_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, axis = np.asarray(inputs[0]), site.node.integer("axis")
    places = list(np.indices(site.output.shape, sparse=True))
    places[axis] = _positions(np.asarray(inputs[1]), x.shape[axis])
    return (x[tuple(places)],)


def _elements_access(site: Site) -> Access:
    """The gathered axis is whole: any element may be needed."""
    axis, loops = site.node.integer("axis"), [f"a{at}" for at in range(len(site.output.shape))]
    source = ",".join(":" if at == axis else loop for at, loop in enumerate(loops))
    text = f"{' '.join(loops)} : X[{source}] I[{','.join(loops)}] -> Y[{','.join(loops)}]"
    return parse_map(text).bind({"X": site.input(0).shape, "I": site.input(1).shape, "Y": site.output.shape})


def _elements_values(call: Call) -> Mapping[str, object]:
    x, indices, y, axis = call.operands["X"], call.operands["I"], call.operands["Y"], call.site.node.integer("axis")
    kept = tuple(0 if at == axis else stride for at, stride in enumerate(x.strides))
    loops = walk(y.extents, {"X": kept, "I": indices.strides, "Y": y.strides}, "Y")
    return {
        "function": f"tw_gather_{y.dtype.value}_{indices.dtype.value}_{loops.depth}",
        "depth": loops.depth,
        "c_type": y.dtype.c_type,
        "index_type": indices.dtype.c_type,
        "arguments": loops.arguments(call.operands, (str(x.shape[axis]), str(x.strides[axis]))),
    }


def _import_elements(node: OnnxNode, graph: Conversion) -> None:
    x = graph.tensor(node.inputs[0])
    axis = need_axis(node, graph, node.integer("axis"), len(x.shape))
    indices = graph.constant(node.inputs[1])
    extent = x.shape[axis]
    if indices is not None and indices.size and not -extent <= int(indices.min()) <= int(indices.max()) < extent:
        raise graph.refuse(node, f"an index is outside axis {axis}, which has {extent} elements")
    graph.emit(node, "GatherElements", node.inputs, node.outputs, {"axis": axis})


# --- GatherND


def _import_nd(node: OnnxNode, graph: Conversion) -> None:
    """A Gather along one axis: axes that are indexed together are one, and so are their indices."""
    x, indices = (graph.tensor(name) for name in node.inputs)
    batch, depth = node.integer("batch_dims"), indices.shape[-1] if indices.shape else 0
    if not 0 <= batch < len(indices.shape) or not 1 <= depth <= len(x.shape) - batch:
        raise graph.refuse(node, f"batch_dims is {batch}, I {list(indices.shape)}, X {list(x.shape)}")
    if x.shape[:batch] != indices.shape[:batch] or indices.dtype not in _INDICES:
        raise graph.refuse(node, "the batches of I are not those of X, or its elements are no i32 or i64")
    indexed, slices = x.shape[batch : batch + depth], x.shape[batch + depth :]
    batches = math.prod(x.shape[:batch])
    # A batch's own elements follow those of the batches before it.
    joined = graph.emit(
        node, "Reshape", node.inputs[:1], (), {"shape": (batches * math.prod(indexed), *slices)}, "joined"
    )
    places = _places(node, graph, indexed, batches)
    result = graph.emit(node, "Gather", (joined, places), (), {"axis": 0}, "slices")
    shape = (*indices.shape[:-1], *slices)
    graph.emit(node, "Reshape", (result,), node.outputs, {"shape": shape})


def _places(node: OnnxNode, graph: Conversion, indexed: Sequence[int], batches: int) -> str:
    """One place in the joined axis for each tuple of indices."""
    indices = graph.tensor(node.inputs[1])
    known, count = graph.constant(node.inputs[1]), indices.elements // indices.shape[-1]
    if known is not None:
        flat = np.asarray(known, np.int64).reshape(batches, count // max(batches, 1), len(indexed))
        limits = np.array(indexed)
        if np.any(flat < -limits) or np.any(flat >= limits):
            raise graph.refuse(node, f"an index is outside {list(indexed)}")
        factors = np.cumprod([1, *reversed(indexed[1:])])[::-1]
        inside = (np.where(flat < 0, flat + limits, flat) * factors).sum(axis=-1)
        return graph.add_constant((inside + _starts(indexed, batches)).reshape(-1), "places")
    place = ""
    for at, extent in enumerate(indexed):
        part = _part(node, graph, at, extent)
        if place:
            scaled = graph.emit(node, "Mul", (place, _number(graph, extent, indices.dtype)), hint=f"rows_{at}")
            part = graph.emit(node, "Add", (scaled, part), hint=f"place_{at}")
        place = part
    if batches > 1:
        starts = np.broadcast_to(_starts(indexed, batches), (batches, count // batches)).reshape(-1)
        place = graph.emit(
            node, "Add", (place, graph.add_constant(starts.astype(indices.dtype.numpy), "starts")), hint="places"
        )
    return place


def _starts(indexed: Sequence[int], batches: int) -> npt.NDArray[np.int64]:
    return np.arange(batches)[:, None] * math.prod(indexed)


def _number(graph: Conversion, value: int, dtype: DType) -> str:
    return graph.add_constant(np.full(1, value, dtype.numpy), "number")


def _part(node: OnnxNode, graph: Conversion, at: int, extent: int) -> str:
    """Index `at` of every tuple, from the front and inside its axis, as a vector."""
    indices = graph.tensor(node.inputs[1])
    count, depth = indices.elements // indices.shape[-1], indices.shape[-1]
    rows = graph.emit(node, "Reshape", node.inputs[1:2], (), {"shape": (count, depth)}, f"tuples_{at}")
    bounds = {"starts": (0, at), "steps": (1, 1), "shape": (count, 1)}
    cut = graph.emit(node, "Slice", (rows,), (), bounds, f"cut_{at}")
    flat = graph.emit(node, "Reshape", (cut,), (), {"shape": (count,)}, f"index_{at}")
    below = graph.emit(node, "Less", (flat, _number(graph, 0, indices.dtype)), hint=f"below_{at}")
    counted = graph.emit(node, "Add", (flat, _number(graph, extent, indices.dtype)), hint=f"counted_{at}")
    front = graph.emit(node, "Where", (below, counted, flat), hint=f"front_{at}")
    low = graph.emit(node, "Max", (front, _number(graph, 0, indices.dtype)), hint=f"low_{at}")
    return graph.emit(node, "Min", (low, _number(graph, extent - 1, indices.dtype)), hint=f"inside_{at}")


GATHER_ELEMENTS = Operator(
    name="GatherElements",
    inputs=("X", "I"),
    outputs=("Y",),
    summary="elements along an axis, each at the place that its index says; GatherND is a Gather of joined axes",
    infer=_infer_elements,
    reference=_elements_reference,
    access=_elements_access,
    imports=with_halves(
        Import(
            op_type="GatherElements",
            since=11,
            attributes={"axis": "INT"},
            convert=_import_elements,
            min_inputs=2,
            max_inputs=2,
        ),
        Import(op_type="GatherND", since=11, attributes={}, convert=_import_nd, min_inputs=2, max_inputs=2),
        Import(
            op_type="GatherND",
            since=12,
            attributes={"batch_dims": "INT"},
            convert=_import_nd,
            min_inputs=2,
            max_inputs=2,
        ),
    ),
)

GATHER_ELEMENTS_COPY = Kernel(
    name="portable.gather_elements",
    op="GatherElements",
    parallel=("*",),
    values=_elements_values,
    source=(c_template("${function}", "gather.c.mako"),),
    call="${function}(${arguments});",
)

OPERATORS = (
    GATHER,
    GATHER_ELEMENTS,
)
KERNELS = (
    GATHER_COPY,
    GATHER_ELEMENTS_COPY,
)
