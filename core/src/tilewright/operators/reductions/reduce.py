"""Knows ReduceMean on floats, ReduceSum, ReduceProd, ReduceMax and ReduceMin on floats and integers, over any axes.
Does not know quantised means (`qpool`), nor indices (ArgMax).

Normal form: attributes `axes`, ascending and counted from the front, and `keepdims`. NaN stays NaN, sums and products
of integers wrap. The result over no element is 0 (sum), 1 (product), NaN (mean), the type's lowest value (max) or its
highest (min), which are infinite for floats. The largest and smallest truth value are those of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float, c_int
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel, PartialSums
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.float_results import dot_tolerance, ulp_tolerance
from tilewright.operators.shared.reducing import REDUCE_CALL, Reduction, reduce_source, reduce_values
from tilewright.operators.shared.refusals import need_axis, need_types, shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

# How two results combine, and what no element gives.
_COMBINE = MappingProxyType(
    {
        "ReduceMean": ("sum", 0.0),
        "ReduceSum": ("sum", 0.0),
        "ReduceProd": ("prod", 1.0),
        "ReduceMax": ("max", -math.inf),
        "ReduceMin": ("min", math.inf),
    }
)


def _keeps(site: Site) -> bool:
    return bool(site.node.integer("keepdims", 1))


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, axes = site.input(0), site.node.integers("axes")
    if list(axes) != sorted(set(axes)) or any(not 0 <= axis < len(x.shape) for axis in axes):
        raise shape_error(site, f"axes are {list(axes)}; they must be axes of X, ascending")
    shape = tuple(
        1 if axis in axes else extent for axis, extent in enumerate(x.shape) if axis not in axes or _keeps(site)
    )
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=shape),)


def _sum(site: Site, x: Doubles) -> Doubles:
    summed: Any = np.sum  # numpy's types know keepdims only as a literal
    total = summed(x, axis=site.node.integers("axes"), keepdims=_keeps(site))
    if site.node.op == "ReduceMean":
        with np.errstate(invalid="ignore"):
            total = total / np.float64(_count(site))
    return np.asarray(total, np.float64)


def _count(site: Site) -> int:
    return math.prod(site.input(0).shape[axis] for axis in site.node.integers("axes"))


def _empty(op: str, dtype: DType) -> float:
    """What no element gives."""
    empty = _COMBINE[op][1]
    return min(max(empty, dtype.limits[0]), dtype.limits[1]) if dtype.is_integer else empty


def _combined(site: Site, x: Any) -> Any:
    """In the type of `x`; integers wrap."""
    combine, axes, keeps = _COMBINE[site.node.op][0], site.node.integers("axes"), _keeps(site)
    if combine in ("sum", "prod"):
        with np.errstate(all="ignore"):
            whole: Any = np.sum if combine == "sum" else np.prod
            return np.asarray(whole(x, dtype=x.dtype, axis=axes, keepdims=keeps))
    order: Any = np.max if combine == "max" else np.min
    empty = _empty(site.node.op, site.input(0).dtype)
    return np.asarray(order(x, initial=np.asarray(empty).astype(x.dtype), axis=axes, keepdims=keeps))


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0])
    if site.input(0).dtype.is_integer:
        return (_combined(site, x),)
    with np.errstate(over="ignore"):
        if _COMBINE[site.node.op][0] == "sum":
            return (_sum(site, x.astype(np.float64)).astype(np.float32),)
        return (_combined(site, x.astype(np.float64)).astype(np.float32),)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    combine = _COMBINE[site.node.op][0]
    if combine in ("max", "min") or site.input(0).dtype.is_integer:
        return (None,)
    x = np.asarray(inputs[0], np.float64)
    if combine == "prod":
        return (_product_error(site, x),)
    return (dot_tolerance(_count(site), _sum(site, np.abs(x)), _sum(site, x)),)


def _product_error(site: Site, x: Doubles) -> Doubles:
    """A rounding for each factor; anything where some order of the factors leaves what float32 holds."""
    with np.errstate(all="ignore"):
        size = np.where(x == 0, 1, np.abs(x))
        kept = _combined(site, np.maximum(size, 1)) <= np.finfo(np.float32).max
        kept &= _combined(site, np.minimum(size, 1)) >= 2.0**-126
        error = ulp_tolerance(_count(site) + 1, _combined(site, x))
    return np.where(kept, error, np.inf)


def _access(site: Site) -> Access:
    x, axes = site.input(0).shape, site.node.integers("axes")
    loops = [f"r{axis}" if axis in axes else f"i{axis}" for axis in range(len(x))]
    kept = [loop for axis, loop in enumerate(loops) if axis not in axes]
    reduced = [loops[axis] for axis in axes]
    result = ["0" if axis in axes else loop for axis, loop in enumerate(loops)] if _keeps(site) else kept
    text = f"{' '.join([*kept, *reduced])} : X[{','.join(loops)}] -> Y[{','.join(result)}]"
    return parse_map(text).bind({"X": x, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    dtype = site.input(0).dtype
    if dtype is DType.F32 or (dtype.is_integer and site.node.op != "ReduceMean"):
        return None
    return f"X is {dtype.value}; computed are f32 and, but for means, integers"


def _values(call: Call) -> Mapping[str, object]:
    combine, dtype = _COMBINE[call.site.node.op][0], call.operands["X"].dtype
    empty = _empty(call.site.node.op, dtype)
    mean = call.site.node.op == "ReduceMean"
    reduction = Reduction(
        axes=call.site.node.integers("axes"),
        keeps=_keeps(call.site),
        combine=combine,
        empty=c_int(int(empty)) if dtype.is_integer else c_float(empty),
        divisor=c_float(float(np.float32(_count(call.site)))) if mean else "",
    )
    return reduce_values(call, reduction)


def _import_reduced(op: str, by_input: bool, node: OnnxNode, graph: Conversion) -> None:
    """Axes are an attribute, or (`by_input`) an optional second input whose absence may mean that nothing happens."""
    x = node.inputs[0]
    dtype = graph.tensor(x).dtype
    if dtype is DType.F64 or (dtype is not DType.F32 and op == "ReduceMean"):
        need_types(node, graph, DType.F32, first=1)
    if dtype is DType.BOOL and _COMBINE[op][0] not in ("max", "min"):
        raise graph.refuse(node, "its input is bool")
    rank = len(graph.tensor(node.inputs[0]).shape)
    axes = node.integers("axes")
    if by_input and len(node.inputs) > 1 and node.inputs[1]:
        axes = tuple(int(axis) for axis in graph.need_constant(node, 1).reshape(-1))
    if not axes and node.integer("noop_with_empty_axes"):
        graph.rename(node, x)
        return
    positive = sorted({need_axis(node, graph, axis, rank) for axis in axes}) if axes else range(rank)
    attributes: dict[str, Attribute] = {"axes": tuple(positive), "keepdims": int(bool(node.integer("keepdims", 1)))}
    if dtype is DType.BOOL:
        byte = graph.emit(node, "Cast", (x,), (), {"to": "u8"}, "bytes")
        result = graph.emit(node, op, (byte,), (), attributes, "found")
        graph.emit(node, "Cast", (result,), node.outputs, {"to": "bool"})
        return
    graph.emit(node, op, (x,), node.outputs, attributes)


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
        name=f"portable.reduce_{op.removeprefix('Reduce').lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        accumulates=lambda site: PartialSums(
            loops=tuple(f"r{axis}" for axis in site.node.integers("axes")), dtype=site.input(0).dtype
        ),
        values=_values,
        source=reduce_source,
        call=REDUCE_CALL,
        includes=("<stdint.h>", "<math.h>"),
    )


OPERATORS = (
    _operator("ReduceMean", "mean over axes", 18),
    _operator("ReduceSum", "sum over axes", 13),
    _operator("ReduceProd", "product over axes", 18),
    _operator("ReduceMax", "largest element over axes", 18),
    _operator("ReduceMin", "smallest element over axes", 18),
)
KERNELS = tuple(_kernel(operator.name) for operator in OPERATORS)
