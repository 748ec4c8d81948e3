"""Knows TopK: the k largest or smallest elements along an axis in order, and where they are.
Does not know the one largest (`arg`).

Normal form: attributes `axis`, counted from the front, `k`, and `largest`. Of equals the first comes first; results are
in order, whether asked for or not. A NaN is larger than every number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_template
from tilewright.operators.c_code.loop_nest import NEST, nest
from tilewright.operators.c_code.walk import walk
from tilewright.operators.shared.import_checks import need_axis
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]


def _axis(site: Site) -> int:
    return site.node.integer("axis")


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axis, k = site.input(0), _axis(site), site.node.integer("k")
    if not 0 <= axis < len(x.shape) or not 0 <= k <= x.shape[axis]:
        raise shape_error(site, f"there is no axis {axis} of {k} elements or more")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    types = (x.dtype, DType.I64)
    return tuple(
        Tensor(name=name, dtype=dtype, shape=shape) for name, dtype in zip(site.node.outputs, types, strict=False)
    )


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x, axis = np.asarray(inputs[0]), _axis(site)
    if site.node.integer("largest", 1):  # a stable order of what is flipped puts the last of equals first
        order = x.shape[axis] - 1 - np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    chosen = np.take(order, np.arange(site.node.integer("k")), axis=axis)
    return (np.take_along_axis(x, chosen, axis), chosen.astype(np.int64))[: len(site.node.outputs)]


def _access(site: Site) -> Access:
    """Any element may be among the first, so the axis is whole."""
    axis, loops = _axis(site), [f"a{at}" for at in range(len(site.output.shape))]
    index = ",".join(":" if at == axis else loop for at, loop in enumerate(loops))
    outer = " ".join(loop for at, loop in enumerate(loops) if at != axis)
    made = {name: tensor.shape for name, tensor in zip(("Y", "I"), site.outputs, strict=False)}
    writes = " ".join(f"{name}[{index}]" for name in made)
    return parse_map(f"{outer} : X[{index}] -> {writes}").bind({"X": site.input(0).shape, **made})


def _match(site: Site) -> str | None:
    dtype = site.input(0).dtype
    if len(site.outputs) < 2:
        return "it has no output of places"
    return None if dtype is DType.F32 or dtype.is_integer else f"X must be f32 or an integer, found {dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    x, y, places, axis = call.operands["X"], call.operands["Y"], call.operands["I"], _axis(call.site)
    others = [at for at in range(len(y.shape)) if at != axis]
    steps = {name: [call.operands[name].strides[at] for at in others] for name in ("X", "Y", "I")}
    outer = nest(walk([y.extents[at] for at in others], steps, "Y"), 0)
    largest = bool(call.site.node.integer("largest", 1))
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "function": f"tw_top_{'largest' if largest else 'smallest'}_{x.dtype.value}",
        "type": x.dtype.c_type,
        "largest": largest,
        "floating": x.dtype.is_float,
        "count": x.extents[axis],
        "k": y.extents[axis],
        "x_step": x.strides[axis],
        "y_step": y.strides[axis],
        "i_step": places.strides[axis],
    }


def _import(node: OnnxNode, graph: Conversion) -> None:
    shape = graph.tensor(node.inputs[0]).shape
    axis = need_axis(node, graph, node.integer("axis", -1), len(shape))
    k = int(graph.need_constant(node, 1).reshape(-1)[0]) if len(node.inputs) > 1 else node.integer("k")
    if not 0 <= k <= shape[axis]:
        raise graph.refuse(node, f"k is {k}, axis {axis} has {shape[axis]} elements")
    attributes: dict[str, Attribute] = {"axis": axis, "k": k, "largest": int(bool(node.integer("largest", 1)))}
    outputs = node.outputs if len(node.outputs) > 1 else (*node.outputs, graph.name(node, "places"))
    graph.emit(node, "TopK", node.inputs[:1], outputs, attributes)


_SORTED = {"axis": "INT", "largest": "INT", "sorted": "INT"}

TOP_K = Operator(
    name="TopK",
    inputs=("X",),
    outputs=("Y", "I"),
    summary="the k largest or smallest elements along an axis, and where they are",
    infer=_infer,
    reference=_reference,
    access=_access,
    macs=lambda site: site.input(0).elements * site.node.integer("k"),
    imports=(
        Import(op_type="TopK", since=1, attributes={"axis": "INT", "k": "INT"}, convert=_import),
        Import(op_type="TopK", since=10, attributes={"axis": "INT"}, convert=_import, min_inputs=2, max_inputs=2),
        Import(op_type="TopK", since=11, attributes=_SORTED, convert=_import, min_inputs=2, max_inputs=2),
    ),
)

TOP_K_PORTABLE = Kernel(
    name="portable.top_k",
    op="TopK",
    parallel=("*",),
    match=_match,
    values=_values,
    source=(c_template("${function}", "top_k.c.mako"),),
    call=NEST
    + "${function}(${count}, ${k}, ${X}${at['X']}, ${x_step}, ${Y}${at['Y']}, ${y_step}, ${I}${at['I']}, ${i_step});",
)

OPERATORS = (TOP_K,)
KERNELS = (TOP_K_PORTABLE,)
