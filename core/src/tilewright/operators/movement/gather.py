"""Knows Gather: slices of X along an axis, in the order that indices say. Constant indices in equal steps are a Slice.
Does not know GatherElements or GatherND.

A negative index counts from the end. One outside X is refused where it is known, and the nearest one where it is not.
"""

from __future__ import annotations

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
from tilewright.operators.shared.shape_errors import shape_error

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
    one = graph.emit(node, "Slice", node.inputs[:1], (), attributes, "slice")
    graph.emit(node, "Reshape", (one,), node.outputs, {"shape": (*x.shape[:axis], *x.shape[axis + 1 :])})


def _step(positions: Sequence[int]) -> int:
    """How far apart neighbours are; 0 where they are not equally far, or all the same."""
    steps = {later - earlier for earlier, later in pairwise(positions)}
    if not positions or len(steps) > 1:
        return 0
    return steps.pop() if steps else 1


def _match(site: Site) -> str | None:
    return "X is f64; the portable kernel moves f32, integers and bool" if site.input(0).dtype is DType.F64 else None


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


def _stays(site: Site) -> tuple[str, ...]:
    """A table of which little is used, such as an embedding: copying all of it would take longer, if it fits at all."""
    return ("X",) if site.input(0).elements > _SPARSE * site.output.elements else ()


GATHER_COPY = Kernel(
    name="portable.gather",
    op="Gather",
    stays=_stays,
    parallel=("*",),
    match=_match,
    values=_values,
    source=(c_template("${function}", "gather.c.mako"),),
    call="${function}(${arguments});",
)

OPERATORS = (GATHER,)
KERNELS = (GATHER_COPY,)
