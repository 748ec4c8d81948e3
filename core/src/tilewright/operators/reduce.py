"""Knows ReduceMean, ReduceSum, ReduceMax and ReduceMin on floats over any axes.
Does not know integers (`qreduce`), nor indices (ArgMax).

Normal form: attributes `axes`, ascending and counted from the front, and `keepdims`. NaN stays NaN. The result over
no element is 0 (sum), -inf (max), inf (min) or NaN (mean).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access import Access, parse_map
from tilewright.ir.dtypes import DType
from tilewright.ir.graph import Attribute, Site, Tensor
from tilewright.ir.importing import Conversion, Import, OnnxNode
from tilewright.ir.kernel import Call, Kernel, PartialSums
from tilewright.ir.operator import Operator
from tilewright.operators.float_error import dot_tolerance
from tilewright.operators.import_checks import need_axis, need_types
from tilewright.operators.reducing import REDUCE_CALL, Reduction, reduce_source, reduce_values
from tilewright.operators.shape_errors import shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

# How two results combine, and what no element gives.
_COMBINE = MappingProxyType(
    {
        "ReduceMean": ("sum", 0.0),
        "ReduceSum": ("sum", 0.0),
        "ReduceMax": ("max", -math.inf),
        "ReduceMin": ("min", math.inf),
    }
)


def _axes(site: Site) -> tuple[int, ...]:
    return site.node.integers("axes")


def _keeps(site: Site) -> bool:
    return bool(site.node.integer("keepdims", 1))


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axes = site.input(0), _axes(site)
    if list(axes) != sorted(set(axes)) or any(not 0 <= axis < len(x.shape) for axis in axes):
        raise shape_error(site, f"axes are {list(axes)}; they must be axes of X, ascending")
    shape = tuple(
        1 if axis in axes else extent for axis, extent in enumerate(x.shape) if axis not in axes or _keeps(site)
    )
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _sum(site: Site, x: Doubles) -> Doubles:
    total = np.sum(x, axis=_axes(site), keepdims=_keeps(site))
    if site.node.op == "ReduceMean":
        with np.errstate(invalid="ignore"):
            total = total / np.float64(_count(site))
    return np.asarray(total, np.float64)


def _count(site: Site) -> int:
    return math.prod(site.input(0).shape[axis] for axis in _axes(site))


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0], np.float64)
    combine, empty = _COMBINE[site.node.op]
    if combine == "sum":
        with np.errstate(over="ignore"):
            return (_sum(site, x).astype(np.float32),)
    order = np.max if combine == "max" else np.min
    return (np.asarray(order(x, axis=_axes(site), keepdims=_keeps(site), initial=empty), np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    if _COMBINE[site.node.op][0] != "sum":
        return (None,)
    x = np.asarray(inputs[0], np.float64)
    return (dot_tolerance(_count(site), _sum(site, np.abs(x)), _sum(site, x)),)


def _access(site: Site) -> Access:
    x, axes = site.input(0).shape, _axes(site)
    loops = [f"r{axis}" if axis in axes else f"i{axis}" for axis in range(len(x))]
    kept = [loop for axis, loop in enumerate(loops) if axis not in axes]
    reduced = [loops[axis] for axis in axes]
    result = ["0" if axis in axes else loop for axis, loop in enumerate(loops)] if _keeps(site) else kept
    text = f"{' '.join([*kept, *reduced])} : X[{','.join(loops)}] -> Y[{','.join(result)}]"
    return parse_map(text).bind({"X": x, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    return None if site.input(0).dtype is DType.F32 else f"X must be f32, found {site.input(0).dtype.value}"


def _accumulates(site: Site) -> PartialSums:
    return PartialSums(loops=tuple(f"r{axis}" for axis in _axes(site)), dtype=DType.F32)


def _values(call: Call) -> Mapping[str, object]:
    combine, empty = _COMBINE[call.site.node.op]
    mean = call.site.node.op == "ReduceMean"
    reduction = Reduction(
        axes=_axes(call.site),
        keeps=_keeps(call.site),
        combine=combine,
        empty=c_float(empty),
        divisor=c_float(float(np.float32(_count(call.site)))) if mean else "",
    )
    return reduce_values(call, reduction)


def _import_reduced(op: str, by_input: bool, node: OnnxNode, graph: Conversion) -> None:
    """Axes are an attribute, or (`by_input`) an optional second input whose absence may mean that nothing happens."""
    need_types(node, graph, DType.F32, first=1)
    rank = len(graph.tensor(node.inputs[0]).shape)
    axes = node.integers("axes")
    if by_input and len(node.inputs) > 1 and node.inputs[1]:
        axes = tuple(int(axis) for axis in graph.need_constant(node, 1).reshape(-1))
    if not axes and node.integer("noop_with_empty_axes"):
        graph.rename(node, node.inputs[0])
        return
    positive = sorted({need_axis(node, graph, axis, rank) for axis in axes}) if axes else range(rank)
    attributes: dict[str, Attribute] = {"axes": tuple(positive), "keepdims": int(bool(node.integer("keepdims", 1)))}
    graph.emit(node, op, node.inputs[:1], node.outputs, attributes)


def _operator(op: str, summary: str, inputs_since: int) -> Operator:
    """`inputs_since` is the operator set that made the axes an input."""
    return Operator(
        name=op,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=_infer,
        reference=_reference,
        access=_access,
        tolerance=_tolerance,
        imports=(
            Import(
                op_type=op,
                since=1,
                attributes={"axes": "INTS", "keepdims": "INT"},
                convert=partial(_import_reduced, op, False),
            ),
            Import(
                op_type=op,
                since=inputs_since,
                attributes={"keepdims": "INT", "noop_with_empty_axes": "INT"},
                convert=partial(_import_reduced, op, True),
                max_inputs=2,
            ),
        ),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.reduce_{op.removeprefix('Reduce').lower()}_f32",
        op=op,
        parallel=("*",),
        match=_match,
        accumulates=_accumulates,
        values=_values,
        source=reduce_source,
        call=REDUCE_CALL,
        includes=("<stdint.h>", "<math.h>"),
    )


OPERATORS = (
    _operator("ReduceMean", "mean over axes", 18),
    _operator("ReduceSum", "sum over axes", 13),
    _operator("ReduceMax", "largest element over axes", 18),
    _operator("ReduceMin", "smallest element over axes", 18),
)
KERNELS = tuple(_kernel(operator.name) for operator in OPERATORS)
