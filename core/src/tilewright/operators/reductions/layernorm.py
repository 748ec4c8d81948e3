"""Knows LayerNormalization and RMSNormalization on floats, row by row, and InstanceNormalization as rows of its own.
Does not know BatchNormalization, whose mean and variance are constants.

Normal form: the last axis is the row; attribute `epsilon`; optional Scale and B as long as a row. Where rows have more
axes, Reshape nodes join them. Source: ONNX 17 (LayerNormalization), 23 (RMSNormalization), 6 (InstanceNormalization).
The variance is a second pass over the row: mean((x - mean)^2), never mean(x^2) - mean^2, which cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Attribute, Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.shared.float_results import TINY, UNIT, or_overflow, rounded
from tilewright.operators.shared.refusals import need_axis, need_types, not_all_float32, shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]
_EPSILON = 1e-5


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if not x.shape:
        raise shape_error(site, "X has no axis")
    for tensor in site.inputs[1:]:
        if tensor is not None and tensor.shape != x.shape[-1:]:
            raise shape_error(site, f"Scale and B have {x.shape[-1]} elements, as many as a row")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _epsilon(site: Site) -> float:
    return float(np.float32(site.node.number("epsilon", _EPSILON)))


def _centred(site: Site, x: Doubles) -> Doubles:
    """x - mean; x itself where the root of the mean square is asked for."""
    if site.node.op == "RMSNormalization":
        return x
    with np.errstate(invalid="ignore"):
        centred: Doubles = x - np.mean(x, axis=-1, keepdims=True)
    return centred


def _optional(inputs: Sequence[Array | None], index: int, absent: float) -> Doubles:
    value = inputs[index] if index < len(inputs) else None
    return np.asarray(absent if value is None else value, np.float64)


def _exact(site: Site, inputs: Sequence[Array | None]) -> Doubles:
    centred = _centred(site, np.asarray(inputs[0], np.float64))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        deviation = np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + _epsilon(site))
        result: Doubles = centred / deviation * _optional(inputs, 1, 1) + _optional(inputs, 2, 0)
    return result


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    """The error of x - mean, of the root of the variance (relative), and of scaling; first order, times 2.

    Anything, in rows whose sums leave what float32 holds.
    """
    x = np.asarray(inputs[0], np.float64)
    scale, result, centred = _optional(inputs, 1, 1), _exact(site, inputs), _centred(site, x)
    sums = 8 * math.sqrt(max(x.shape[-1], 1)) * UNIT
    with np.errstate(invalid="ignore", over="ignore"):
        off = sums * np.mean(np.abs(x), axis=-1, keepdims=True) + UNIT * (np.abs(x) + np.abs(centred)) + TINY
        off = off * (site.node.op != "RMSNormalization")
        variance = np.mean(centred * centred, axis=-1, keepdims=True) + _epsilon(site)
        changed = np.mean(2 * np.abs(centred) * off + off * off, axis=-1, keepdims=True) + sums * variance
        root = changed / (2 * variance) + 4 * UNIT
        error = (off + np.abs(centred) * (root + 4 * UNIT)) / np.sqrt(variance) * np.abs(scale)
        allowed = 2 * error + 4 * UNIT * (np.abs(result) + np.abs(_optional(inputs, 2, 0))) + 8 * TINY
        totals = (np.sum(terms, axis=-1, keepdims=True) for terms in (np.abs(x), centred * centred))
        return (or_overflow(allowed, np.maximum(*totals)),)


def _access(site: Site) -> Access:
    x = site.input(0).shape
    loops = [f"i{axis}" for axis in range(len(x) - 1)]
    index = ",".join([*loops, ":"])
    parameters = [name for name, tensor in zip(("Scale", "B"), site.inputs[1:], strict=False) if tensor is not None]
    text = f"{' '.join(loops)} : X[{index}] {' '.join(f'{name}[:]' for name in parameters)} -> Y[{index}]"
    return parse_map(text).bind({"X": x, "Y": x, **dict.fromkeys(parameters, x[-1:])})


def _values(call: Call) -> Mapping[str, object]:
    x, y = call.operands["X"], call.operands["Y"]
    rows = walk(y.extents[:-1], {"X": x.strides[:-1], "Y": y.strides[:-1]}, "Y")
    outer = nest(rows, 0)
    scale, shift = call.operands.get("Scale"), call.operands.get("B")
    return {
        "nest": outer.headers,
        "at": outer.offsets,
        "count": y.extents[-1],
        "x_step": x.strides[-1],
        "y_step": y.strides[-1],
        "scale": scale or "0",
        "shift": shift or "0",
        "centred": int(call.site.node.op != "RMSNormalization"),
        "epsilon": c_float(_epsilon(call.site)),
    }


_CALL = (
    NEST
    + "tw_layer_normalization_f32(${count}, ${centred}, ${epsilon}, ${X}${at['X']}, ${x_step}, ${scale}, ${shift}, "
    + "${Y}${at['Y']}, ${y_step});"
)


def _import(node: OnnxNode, graph: Conversion) -> None:
    """One row per index of the axes before `axis`; Scale and B are broadcast to a row."""
    need_types(node, graph, DType.F32)
    shape = graph.tensor(node.inputs[0]).shape
    axis = need_axis(node, graph, node.integer("axis", -1), len(shape))
    attributes: dict[str, Attribute] = {"epsilon": node.number("epsilon", _EPSILON)}
    if any(node.outputs[1:]):
        _emit_statistics(node, graph, tuple(range(axis, len(shape))))
    outputs = node.outputs[:1]
    parameters = [_as_row(node, graph, name, shape[axis:]) for name in node.inputs[1:]]
    if axis == len(shape) - 1:
        graph.emit(node, node.op_type, (node.inputs[0], *parameters), outputs, attributes)
        return
    rows = (math.prod(shape[:axis]), math.prod(shape[axis:]))
    flat = graph.emit(node, "Reshape", node.inputs[:1], (), {"shape": rows}, "flat")
    result = graph.emit(node, node.op_type, (flat, *parameters), (), attributes, "rows")
    graph.emit(node, "Reshape", (result,), outputs, {"shape": shape})


def _emit_statistics(node: OnnxNode, graph: Conversion, axes: tuple[int, ...]) -> None:
    """The optional outputs Mean and InvStdDev, by reductions of their own."""
    kept: dict[str, Attribute] = {"axes": axes, "keepdims": 1}
    mean, inverse = (*node.outputs[1:], "")[:2]
    epsilon = graph.add_constant(np.float32(node.number("epsilon", _EPSILON)).reshape(1), "epsilon")
    average = graph.emit(node, "ReduceMean", node.inputs[:1], (mean,) if mean else (), kept, "mean")
    if inverse:
        centred = graph.emit(node, "Sub", (node.inputs[0], average), hint="centred")
        squares = graph.emit(node, "Mul", (centred, centred), hint="squares")
        variance = graph.emit(node, "ReduceMean", (squares,), (), kept, "variance")
        safe = graph.emit(node, "Add", (variance, epsilon), hint="safe")
        graph.emit(node, "Reciprocal", (graph.emit(node, "Sqrt", (safe,), hint="deviation"),), (inverse,))


def _as_row(node: OnnxNode, graph: Conversion, name: str, row: tuple[int, ...]) -> str:
    if not name:
        return ""
    value = graph.constant(name)
    if value is not None:
        try:
            return graph.add_constant(np.broadcast_to(value, row).reshape(-1), "row")
        except ValueError:
            raise graph.refuse(node, f"{name} does not broadcast to the normalised axes {list(row)}") from None
    if graph.tensor(name).shape != row:
        raise graph.refuse(node, f"{name} is computed, and is not {list(row)} as the normalised axes are")
    return graph.emit(node, "Reshape", (name,), (), {"shape": (math.prod(row),)}, "row")


def _import_instance(node: OnnxNode, graph: Conversion) -> None:
    """Rows are what one channel of one image has; Scale and B belong to channels, so they follow as Mul and Add."""
    need_types(node, graph, DType.F32)
    x, scale, shift = node.inputs
    shape = graph.tensor(x).shape
    if len(shape) < 3:
        raise graph.refuse(node, "X has no axes but N and C")
    rows = (shape[0] * shape[1], math.prod(shape[2:]))
    flat = graph.emit(node, "Reshape", (x,), (), {"shape": rows}, "flat")
    even = graph.emit(node, "LayerNormalization", (flat,), (), {"epsilon": node.number("epsilon", _EPSILON)}, "rows")
    even = graph.emit(node, "Reshape", (even,), (), {"shape": shape}, "normalised")
    channels = (shape[1], *(1,) * (len(shape) - 2))
    factor, offset = (
        graph.emit(node, "Reshape", (name,), (), {"shape": channels}, hint)
        for name, hint in ((scale, "scale"), (shift, "shift"))
    )
    scaled = graph.emit(node, "Mul", (even, factor), (), {}, "scaled")
    graph.emit(node, "Add", (scaled, offset), node.outputs)


def _operator(name: str, summary: str, imports: tuple[Import, ...]) -> Operator:
    return Operator(
        name=name,
        inputs=("X", "Scale", "B") if name == "LayerNormalization" else ("X", "Scale"),
        outputs=("Y",),
        summary=summary,
        infer=_infer,
        reference=lambda site, inputs: (rounded(_exact(site, inputs)),),
        access=_access,
        tolerance=_tolerance,
        macs=lambda site: 2 * site.output.elements,
        imports=imports,
    )


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=f"portable.{name}_f32",
        op=op,
        parallel=("*",),
        match=not_all_float32,
        in_place=lambda site: (("X", "Y"),),
        values=_values,
        source=(c_fragment("layernorm.c"),),
        call=_CALL,
        includes=("<stdint.h>", "<math.h>"),
    )


_ROWS = {"axis": "INT", "epsilon": "FLOAT", "stash_type": "INT"}
LAYER_NORMALIZATION = _operator(
    "LayerNormalization",
    "(x - mean) / sqrt(variance + epsilon) * Scale + B, row by row",
    (
        Import(op_type="LayerNormalization", since=17, attributes=_ROWS, convert=_import, min_inputs=2, max_inputs=3),
        Import(
            op_type="InstanceNormalization",
            since=6,
            attributes={"epsilon": "FLOAT"},
            convert=_import_instance,
            min_inputs=3,
            max_inputs=3,
        ),
    ),
)
RMS_NORMALIZATION = _operator(
    "RMSNormalization",
    "x / sqrt(mean square + epsilon) * Scale, row by row",
    (Import(op_type="RMSNormalization", since=23, attributes=_ROWS, convert=_import, min_inputs=2, max_inputs=2),),
)

OPERATORS = (LAYER_NORMALIZATION, RMS_NORMALIZATION)
KERNELS = (
    _kernel("LayerNormalization", "layer_normalization"),
    _kernel("RMSNormalization", "rms_normalization"),
)
