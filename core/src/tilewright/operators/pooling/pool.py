"""Knows MaxPool (f32, i8, u8) and AveragePool (f32) over one to three spatial axes, and their Global forms.
Does not know integer averages (`qpool`).

Normal form: attributes of `windows`, for AveragePool `count_include_pad` and optionally `clip_low`, `clip_high`.
GlobalMaxPool and GlobalAveragePool are one window over the whole extent. NaN in a window makes its output NaN. A
window that holds nothing but padding gives the type's lowest value (MaxPool) or 0 (AveragePool); positions past the
padding, which only `ceil_mode` reaches, never count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
from tilewright.operators.c_code.c_source import c_fragment, c_template
from tilewright.operators.shared.float_results import clip_literals, dot_tolerance, rounded_and_clipped
from tilewright.operators.shared.reducing import (
    NO_REDUCTION,
    REDUCE_CALL,
    Reduction,
    either,
    reduce_source,
    reduce_values,
)
from tilewright.operators.shared.refusals import need_types, not_float32, not_float32_or_values, shape_error
from tilewright.operators.shared.windows import (
    WINDOW_ATTRIBUTES,
    Windows,
    c_axes,
    import_windows,
    inferred_outputs,
    prefers_channels_last,
    tap_views,
    windows_of,
)

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if len(x.shape) < 3:
        raise shape_error(site, "X is [N, C, spatial...]")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=(*x.shape[:2], *inferred_outputs(site))),)


def _access(site: Site) -> Access:
    windows = windows_of(site.node)
    outs, taps = windows.output_loops, windows.tap_loops
    text = (
        f"n c {' '.join(outs)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,c,{','.join(windows.map_indices())}] -> Y[n,c,{','.join(outs)}]"
    )
    return parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape}, windows.map_values())


def _fields(call: Call) -> dict[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    return {
        "batches": y.extents[0],
        "channels": y.extents[1],
        "x_batch": x.strides[0],
        "x_channel": x.strides[1],
        "y_batch": y.strides[0],
        "y_channel": y.strides[1],
        **c_axes(windows_of(call.site.node), x, y),
    }


def is_global(site: Site) -> bool:
    """Whether there is one window, over everything: then its taps are the image, and may be taken in parts."""
    windows, extents = windows_of(site.node), site.input(0).shape[2:]
    steps = zip(windows.dilations, windows.kernel, strict=True)
    return (
        windows.kernel == extents
        and not any((*windows.before, *windows.after))
        and all(step == 1 or taps == 1 for step, taps in steps)
    )


def _accumulates(site: Site) -> PartialSums | None:
    loops = windows_of(site.node).tap_loops
    return PartialSums(loops=loops, dtype=site.input(0).dtype) if is_global(site) else None


def _part_values(call: Call, combine: str, empty: str, **more: Any) -> Mapping[str, object]:
    axes = tuple(range(2, len(call.site.input(0).shape)))
    return reduce_values(call, Reduction(axes=axes, keeps=True, combine=combine, empty=empty, **more))


# --- MaxPool


def lowest_value(dtype: DType) -> float:
    return -math.inf if dtype.is_float else dtype.limits[0]


def _max_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0])
    result = np.full(site.output.shape, lowest_value(site.input(0).dtype), x.dtype)
    for seen in tap_views(x, windows_of(site.node), lowest_value(site.input(0).dtype)):
        result = np.maximum(result, seen)
    return (result,)


def _max_values(call: Call) -> Mapping[str, object]:
    dtype = call.operands["X"].dtype
    lowest = lowest_value(dtype)
    text = c_float(lowest) if dtype.is_float else c_int(int(lowest))
    if call.is_part:
        return {"fields": _NO_FIELDS, **_part_values(call, "max", text)}
    return {
        **NO_REDUCTION,
        "fields": _fields(call),
        "short": dtype.value,
        "type": dtype.c_type,
        "floating": dtype.is_float,
        "lowest": text,
    }


def _import_max(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32, DType.I8, DType.U8)
    windows = _import_windows(node, graph)
    if len(node.outputs) == 1 or node.outputs[1] in node.unread:
        graph.emit(node, "MaxPool", node.inputs, node.outputs[:1], windows.attributes())
        return
    attributes = {**windows.attributes(), "column_major": int(node.integer("storage_order") == 1)}
    graph.emit(node, "MaxPoolIndices", node.inputs, node.outputs, attributes)


# --- AveragePool


def window_counts(windows: Windows, extents: Sequence[int], *, padding: bool) -> npt.NDArray[np.int64]:
    """How many positions count in each window, as [outputs...]; with `padding`, those in the padding too."""
    counts = np.ones((), np.int64)
    for axis, (extent, outputs) in enumerate(zip(extents, windows.outputs(extents), strict=True)):
        starts = np.arange(outputs) * windows.strides[axis] - windows.before[axis]
        positions = starts[:, None] + np.arange(windows.kernel[axis]) * windows.dilations[axis]
        end = extent + windows.after[axis] if padding else extent
        inside = (positions >= (-windows.before[axis] if padding else 0)) & (positions < end)
        counts = np.multiply.outer(counts, inside.sum(axis=1))
    return counts


def _means(site: Site, x: Doubles) -> Doubles:
    windows = windows_of(site.node)
    total = np.zeros(site.output.shape)
    for seen in tap_views(x, windows, 0.0):
        total += seen
    padding = bool(site.node.integer("count_include_pad"))
    counts = window_counts(windows, site.input(0).shape[2:], padding=padding)
    return total / np.maximum(counts, 1)


def _average_tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    x = np.asarray(inputs[0], np.float64)
    return (dot_tolerance(math.prod(windows_of(site.node).kernel), _means(site, np.abs(x)), _means(site, x)),)


def _average_values(call: Call) -> Mapping[str, object]:
    limits = clip_literals(call.site.node)
    if call.is_part:
        divisor = c_float(float(math.prod(windows_of(call.site.node).kernel)))
        parts = _part_values(call, "sum", "0.0f", divisor=divisor, limits=(str(limits["low"]), str(limits["high"])))
        return {"fields": _NO_FIELDS, "padding": 0, **limits, **parts}
    padding = int(bool(call.site.node.integer("count_include_pad")))
    return {**NO_REDUCTION, "fields": _fields(call), "padding": padding, **limits}


def _import_average(node: OnnxNode, graph: Conversion) -> None:
    need_types(node, graph, DType.F32)
    attributes: dict[str, Attribute] = {
        **_import_windows(node, graph).attributes(),
        "count_include_pad": int(bool(node.integer("count_include_pad"))),
    }
    graph.emit(node, "AveragePool", node.inputs, node.outputs, attributes)


# --- imports


def _import_windows(node: OnnxNode, graph: Conversion) -> Windows:
    shape = graph.tensor(node.inputs[0]).shape
    if len(shape) < 3:
        raise graph.refuse(node, f"X{list(shape)} has no spatial axes")
    ceil_mode = bool(node.integer("ceil_mode"))
    return import_windows(node, graph, shape[2:], node.integers("kernel_shape"), ceil_mode=ceil_mode)


def _import_global(op: str, *types: DType) -> Callable[[OnnxNode, Conversion], None]:
    def convert(node: OnnxNode, graph: Conversion) -> None:
        need_types(node, graph, *types)
        extents = graph.tensor(node.inputs[0]).shape[2:]
        if not extents or 0 in extents:
            raise graph.refuse(node, f"X{list(graph.tensor(node.inputs[0]).shape)} has nothing to pool over")
        windows = import_windows(node, graph, extents, extents)
        counted: dict[str, Attribute] = {"count_include_pad": 0} if op == "AveragePool" else {}
        graph.emit(node, op, node.inputs, node.outputs, {**windows.attributes(), **counted})

    return convert


_MAX_8 = {**WINDOW_ATTRIBUTES, "storage_order": "INT"}
_MAX_10 = {**_MAX_8, "ceil_mode": "INT", "dilations": "INTS"}
_AVERAGE_7 = {**WINDOW_ATTRIBUTES, "count_include_pad": "INT"}
_AVERAGE_10 = {**_AVERAGE_7, "ceil_mode": "INT"}
_AVERAGE_19 = {**_AVERAGE_10, "dilations": "INTS"}

MAX_POOL = Operator(
    name="MaxPool",
    inputs=("X",),
    outputs=("Y",),
    summary="largest element of each window; GlobalMaxPool is one window",
    infer=_infer,
    reference=_max_reference,
    access=_access,
    imports=(
        Import(op_type="MaxPool", since=1, attributes=WINDOW_ATTRIBUTES, convert=_import_max),
        Import(op_type="MaxPool", since=8, attributes=_MAX_8, convert=_import_max),
        Import(op_type="MaxPool", since=10, attributes=_MAX_10, convert=_import_max),
        Import(
            op_type="GlobalMaxPool",
            since=1,
            attributes={},
            convert=_import_global("MaxPool", DType.F32, DType.I8, DType.U8),
        ),
    ),
)

AVERAGE_POOL = Operator(
    name="AveragePool",
    inputs=("X",),
    outputs=("Y",),
    summary="mean of each window; GlobalAveragePool is one window",
    infer=_infer,
    reference=lambda site, inputs: (rounded_and_clipped(site.node, _means(site, np.asarray(inputs[0], np.float64))),),
    access=_access,
    tolerance=_average_tolerance,
    imports=(
        Import(op_type="AveragePool", since=7, attributes=_AVERAGE_7, convert=_import_average),
        Import(op_type="AveragePool", since=10, attributes=_AVERAGE_10, convert=_import_average),
        Import(op_type="AveragePool", since=19, attributes=_AVERAGE_19, convert=_import_average),
        Import(
            op_type="GlobalAveragePool",
            since=1,
            attributes={},
            convert=_import_global("AveragePool", DType.F32),
        ),
    ),
)

_NO_FIELDS: Mapping[str, object] = MappingProxyType({})

# Field by field, so that a step reads like a table of its windows.
_POOL = """(tw_pool){
% for name, value in fields.items():
        .${name} = ${value},
% endfor
    }"""

_MAX = c_template("tw_max_pool_${short}", "max_pool.c.mako")

MAX_POOL_PORTABLE = Kernel(
    name="portable.max_pool",
    op="MaxPool",
    match=not_float32_or_values,
    prefers=prefers_channels_last,
    parallel=("c", "d", "h", "w"),
    accumulates=_accumulates,
    values=_max_values,
    source=lambda values: reduce_source(values) if values["part"] else (_MAX,),
    call=either(f"{REDUCE_CALL}\n", f"tw_max_pool_${{short}}({_POOL}, ${{X}}, ${{Y}});\n"),
    includes=("<stdint.h>", "<math.h>"),
)

AVERAGE_POOL_F32 = Kernel(
    name="portable.average_pool_f32",
    op="AveragePool",
    match=not_float32,
    prefers=prefers_channels_last,
    parallel=("c", "d", "h", "w"),
    accumulates=_accumulates,
    values=_average_values,
    source=lambda values: reduce_source(values) if values["part"] else (c_fragment("average_pool.c"),),
    call=either(
        f"{REDUCE_CALL}\n", f"tw_average_pool_f32({_POOL}, ${{padding}}, ${{low}}, ${{high}}, ${{X}}, ${{Y}});\n"
    ),
    includes=("<stdint.h>", "<math.h>"),
)

OPERATORS = (MAX_POOL, AVERAGE_POOL)
KERNELS = (MAX_POOL_PORTABLE, AVERAGE_POOL_F32)
