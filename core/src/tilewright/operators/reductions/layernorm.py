"""Knows LayerNormalization and RMSNormalization on floats, row by row.
Does not know which operators of ONNX become these rows (`layernorm_imports`), nor BatchNormalization, whose mean and
variance are constants.

Normal form: the last axis is the row; attribute `epsilon`; optional Scale and B as long as a row.
The mean is the first element and the mean of the distances from it, so that it is exact where all are equal, and
rounded once. The variance is a second pass over the row: mean((x - mean)^2), never mean(x^2) - mean^2, which cancels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Import
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.operators.c_code.c_source import c_fragment
from tilewright.operators.c_code.walk import NEST, nest, walk
from tilewright.operators.reductions.layernorm_imports import EPSILON, LAYER_IMPORTS, RMS_IMPORTS
from tilewright.operators.shared.float_results import TINY, UNIT, or_overflow, rounded
from tilewright.operators.shared.refusals import not_all_float32, shape_error

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]


def _infer(site: Site) -> tuple[Tensor, ...]:
    x = site.input(0)
    if not x.shape:
        raise shape_error(site, "X has no axis")
    for tensor in site.inputs[1:]:
        if tensor is not None and tensor.shape != x.shape[-1:]:
            raise shape_error(site, f"Scale and B have {x.shape[-1]} elements, as many as a row")
    return (Tensor(name=site.node.outputs[0], dtype=x.dtype, shape=x.shape),)


def _epsilon(site: Site) -> float:
    return float(np.float32(site.node.number("epsilon", EPSILON)))


def _centred(site: Site, x: Doubles) -> Doubles:
    """x - mean; x itself where the root of the mean square is asked for."""
    if site.node.op == "RMSNormalization":
        return x
    apart = _apart(x)
    with np.errstate(invalid="ignore"):
        centred: Doubles = apart - _means(apart)
    return centred


def _apart(x: Doubles) -> Doubles:
    """The distances from the first element of the row."""
    with np.errstate(invalid="ignore"):
        apart: Doubles = x - x[..., :1]
    return apart


def _means(values: Doubles) -> Doubles:
    with np.errstate(invalid="ignore"):
        means: Doubles = np.mean(values, axis=-1, keepdims=True)
    return means


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

    The mean is rounded once, by no more than it is from the first element of its row. Anything, in rows whose sums
    leave what float32 holds.
    """
    x = np.asarray(inputs[0], np.float64)
    apart = _apart(x)
    scale, result, centred = _optional(inputs, 1, 1), _exact(site, inputs), _centred(site, x)
    sums = 8 * math.sqrt(max(x.shape[-1], 1)) * UNIT
    with np.errstate(invalid="ignore", over="ignore"):
        rounding = np.minimum(UNIT * np.abs(_means(x)), np.abs(_means(apart)))
        off = sums * _means(np.abs(apart)) + rounding + UNIT * np.abs(centred) + TINY
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


LAYER_NORMALIZATION = _operator(
    "LayerNormalization", "(x - mean) / sqrt(variance + epsilon) * Scale + B, row by row", LAYER_IMPORTS
)
RMS_NORMALIZATION = _operator("RMSNormalization", "x / sqrt(mean square + epsilon) * Scale, row by row", RMS_IMPORTS)

OPERATORS = (LAYER_NORMALIZATION, RMS_NORMALIZATION)
KERNELS = (
    _kernel("LayerNormalization", "layer_normalization"),
    _kernel("RMSNormalization", "rms_normalization"),
)
