"""Knows Clip and Relu: y = min(max(x, min), max), NaN kept. Relu is Clip(0, inf).
Does not know quantisation: in an integer network a clip becomes part of the requantisation or a lookup table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_element
from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.elementwise import same_as_x, unary_access

Array = npt.NDArray[np.generic]


def _limits(site: Site) -> tuple[float, float]:
    """The limits as values of X's type; what no value of the type can exceed is the type's own limit."""
    low, high = site.node.number("min", -math.inf), site.node.number("max", math.inf)
    dtype = site.input(0).dtype
    if dtype is DType.F64:
        return low, high
    if dtype.is_float:
        return float(np.float32(low)), float(np.float32(high))
    smallest, largest = dtype.limits
    return max(low, smallest), min(high, largest)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.asarray(inputs[0])
    low, high = (np.array(limit).astype(x.dtype) for limit in _limits(site))
    return (np.minimum(np.maximum(x, low), high),)


def _match(site: Site) -> str | None:
    """X may be a float, or an integer of at most 32 bits."""
    dtype = site.input(0).dtype
    if dtype.is_float or (dtype.is_integer and dtype.size_bytes <= 4):
        return None
    return f"X must be a float or an integer of at most 32 bits, found {dtype.value}"


def _values(call: Call) -> Mapping[str, object]:
    dtype = call.operands["X"].dtype
    real, (low, high) = dtype.computed_in, _limits(call.site)
    # min(max(x, low), high) is high wherever low is above it; the C compares with low first.
    scalars = {"low": (real.c_type, c_element(min(low, high), real)), "high": (real.c_type, c_element(high, real))}
    return elementwise_values(call, f"clip_{dtype.value}", "x < low ? low : (x > high ? high : x)", scalars=scalars)


def _import_relu(node: OnnxNode, graph: Conversion) -> None:
    graph.emit(node, "Clip", node.inputs, node.outputs, {"min": 0.0, "max": math.inf})


def _import_clip_6(node: OnnxNode, graph: Conversion) -> None:
    limits = {"min": node.number("min", -math.inf), "max": node.number("max", math.inf)}
    graph.emit(node, "Clip", node.inputs, node.outputs, limits)


def _import_clip_11(node: OnnxNode, graph: Conversion) -> None:
    """Limits that the program computes, or of 64 bits, are a Max and a Min."""
    is_wide = graph.tensor(node.inputs[0]).dtype in (DType.I64, DType.U64)
    limits = {"min": -math.inf, "max": math.inf}
    computed: dict[str, str] = {}
    for index, name in ((1, "min"), (2, "max")):
        if index < len(node.inputs) and node.inputs[index]:
            limit = graph.constant(node.inputs[index])
            if limit is None or is_wide:
                computed[name] = node.inputs[index]
            else:
                limits[name] = float(limit.reshape(()).item())
    if not computed and not is_wide:
        graph.emit(node, "Clip", node.inputs[:1], node.outputs, limits)
        return
    value = node.inputs[0]
    for op, name in (("Max", "min"), ("Min", "max")):
        if name in computed:
            value = graph.emit(node, op, (value, computed[name]), hint=name)
        elif math.isfinite(limits[name]):
            known = {"min": -math.inf, "max": math.inf, name: limits[name]}
            value = graph.emit(node, "Clip", (value,), (), known, hint=name)
    graph.rename(node, value)


CLIP = Operator(
    name="Clip",
    inputs=("X",),
    outputs=("Y",),
    summary="y = min(max(x, min), max)",
    infer=same_as_x,
    reference=_reference,
    access=unary_access,
    imports=with_halves(
        Import(op_type="Relu", since=6, attributes={}, convert=_import_relu),
        Import(op_type="Clip", since=6, attributes={"min": "FLOAT", "max": "FLOAT"}, convert=_import_clip_6),
        Import(op_type="Clip", since=11, attributes={}, convert=_import_clip_11, max_inputs=3),
    ),
)

CLIP_PORTABLE = Kernel(
    name="portable.clip",
    op="Clip",
    parallel=("*",),
    match=_match,
    in_place=lambda site: (("X", "Y"),),
    values=_values,
    source=elementwise_source,
    call=ELEMENTWISE_CALL,
    includes=("<stdint.h>", "<math.h>"),  # INFINITY
)

OPERATORS = (CLIP,)
KERNELS = (CLIP_PORTABLE,)
