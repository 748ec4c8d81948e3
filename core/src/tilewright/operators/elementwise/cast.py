"""Knows Cast, which keeps the number, and BitCast, which keeps the bits, as another element type.
Does not know quantisation: a Cast keeps the number, not what it stands for.

What ONNX leaves open is settled here: a float becomes an integer by dropping its fraction, out-of-range values become
the nearest limit, NaN becomes 0; an integer that does not fit wraps; everything but 0 becomes true, NaN included.
BitCast takes types of one size. Nothing becomes bool by it: bytes that are neither 0 nor 1 would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES, DType, type_name
from tilewright.operators.c_code.c_source import ELEMENTWISE, c_template, elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.elementwise import unary_access
from tilewright.operators.shared.refusals import shape_error

Array = npt.NDArray[np.generic]


def _target(site: Site) -> DType:
    return DType(site.node.attributes["to"])


def convert(x: Array, target: DType) -> Array:
    """`x` as `target`, by the rules of this module."""
    if not np.issubdtype(x.dtype, np.floating) or target.is_float:
        with np.errstate(over="ignore", invalid="ignore"):
            wide = x.astype(np.float32) if target.is_half and x.dtype != np.float64 else x
            return wide.astype(target.numpy)
    if target is DType.BOOL:
        return np.not_equal(x, 0)
    low, high = target.limits
    whole = np.trunc(np.nan_to_num(np.asarray(x, np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
    inside = np.clip(whole, float(low), float(np.nextafter(np.float64(2.0) ** _bits(target), 0)))
    exact = inside.astype(np.uint64 if low == 0 else np.int64).astype(target.numpy)
    return np.where(whole >= high, np.asarray(high, target.numpy), exact)


def _bits(target: DType) -> int:
    """The exponent of the first power of two that is too large."""
    return target.limits[1].bit_length()


def _match(site: Site) -> str | None:
    source, target = site.input(0).dtype, _target(site)
    if source is DType.F64 and target not in (DType.F32, DType.BOOL):
        return f"f64 to {target.value} is for constants that are folded; the portable kernel makes f32 and bool of f64"
    if target is DType.F64 and source.is_half:
        return f"{source.value} to f64 is for constants that are folded; the portable kernel makes f64 of other types"
    return None


def _values(call: Call) -> Mapping[str, object]:
    source, target = call.operands["X"].dtype, call.operands["Y"].dtype
    name = f"cast_{source.value}_{target.value}"
    saturated = source.computed_in is DType.F32 and target.is_integer
    expression = f"({target.computed_in.c_type})x"
    if target is DType.BOOL:
        expression = f"({target.c_type})(x != 0)"
    elif saturated:
        expression = f"tw_f32_to_{target.value}(x)"
    return {
        **elementwise_values(call, name, expression),
        "saturated": saturated,
        "convert": f"tw_f32_to_{target.value}",
        "target": target.c_type,
        **(_limits(target) if saturated else {}),
    }


def _limits(target: DType) -> Mapping[str, str]:
    """Floats that are surely outside or at the limit, and the limits themselves, as C."""
    macro = target.c_type.removesuffix("_t").upper()
    unsigned = target.limits[0] == 0
    return {
        "above": c_float(2.0 ** _bits(target)),
        "below": c_float(-1.0 if unsigned else float(target.limits[0])),
        "lowest": "0" if unsigned else f"{macro}_MIN",
        "highest": f"{macro}_MAX",
    }


def _emit(node: OnnxNode, graph: Conversion, target: DType) -> None:
    if graph.tensor(node.inputs[0]).dtype is target:
        graph.rename(node, node.inputs[0])
        return
    graph.emit(node, "Cast", node.inputs[:1], node.outputs, {"to": target.value})


def _import_cast(node: OnnxNode, graph: Conversion) -> None:
    number = node.integer("to")
    if number not in ELEMENT_TYPES:
        raise graph.refuse(node, f"it converts to {type_name(number)}, which tilewright does not hold")
    _emit(node, graph, ELEMENT_TYPES[number])


def _import_cast_like(node: OnnxNode, graph: Conversion) -> None:
    _emit(node, graph, graph.tensor(node.inputs[1]).dtype)


_SATURATE = {"saturate": "INT"}  # about 8-bit floats only
_ROUND = {**_SATURATE, "round_mode": "STRING"}  # about float8e8m0 only

_CONVERT = c_template("${convert}", "cast.c.mako")

CAST = Operator(
    name="Cast",
    inputs=("X",),
    outputs=("Y",),
    summary="another element type",
    infer=lambda site: (Tensor(name=site.node.outputs[0], dtype=_target(site), shape=site.input(0).shape),),
    reference=lambda site, inputs: (convert(np.asarray(inputs[0]), _target(site)),),
    access=unary_access,
    imports=with_halves(
        Import(op_type="Cast", since=6, attributes={"to": "INT"}, convert=_import_cast),
        Import(op_type="Cast", since=19, attributes={"to": "INT", **_SATURATE}, convert=_import_cast),
        Import(op_type="Cast", since=24, attributes={"to": "INT", **_ROUND}, convert=_import_cast),
        Import(op_type="CastLike", since=15, attributes={}, convert=_import_cast_like, min_inputs=2, max_inputs=2),
        Import(
            op_type="CastLike", since=19, attributes=_SATURATE, convert=_import_cast_like, min_inputs=2, max_inputs=2
        ),
        Import(op_type="CastLike", since=24, attributes=_ROUND, convert=_import_cast_like, min_inputs=2, max_inputs=2),
    ),
)

CAST_PORTABLE = Kernel(
    name="portable.cast",
    op="Cast",
    parallel=("*",),
    match=_match,
    values=_values,
    source=lambda values: (*([_CONVERT] if values["saturated"] else []), *values["conversions"], ELEMENTWISE),
    call=ELEMENTWISE_CALL,
)


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, target = site.input(0), _target(site)
    if x.dtype.size_bytes != target.size_bytes or target is DType.BOOL:
        raise shape_error(site, f"{x.dtype.value} does not become {target.value} bit by bit")
    return (Tensor(name=site.node.outputs[0], dtype=target, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.ascontiguousarray(np.asarray(inputs[0])).reshape(site.output.shape)
    return (x.view(_target(site).numpy).copy(),)


def _bit_cast_values(call: Call) -> Mapping[str, object]:
    source, target = call.operands["X"].dtype, call.operands["Y"].dtype
    expression = f"({target.c_type})x"
    if source is DType.F32 and target is not DType.F32:
        expression = f"({target.c_type})tw_bits_of_f32(x)"
    elif target is DType.F32 and source is not DType.F32:
        expression = "tw_f32_of_bits((uint32_t)x)"
    return elementwise_values(call, f"bits_{source.value}_{target.value}", expression)


def _import(node: OnnxNode, graph: Conversion) -> None:
    number = node.integer("to")
    target, x = ELEMENT_TYPES.get(number), graph.tensor(node.inputs[0]).dtype
    if target is not None and (x.is_half or target.is_half):
        raise graph.refuse(node, f"{x.value} as {type_name(number)}: floats of 16 bits keep no bits of their own")
    if target is None or target.size_bytes != x.size_bytes or target is DType.BOOL:
        raise graph.refuse(node, f"{x.value} as {type_name(number)}: not of one size, or not held")
    graph.emit(node, "BitCast", node.inputs, node.outputs, {"to": target.value})


BIT_CAST = Operator(
    name="BitCast",
    inputs=("X",),
    outputs=("Y",),
    summary="the same bits as another type",
    infer=_infer,
    reference=_reference,
    access=unary_access,
    imports=(Import(op_type="BitCast", since=26, attributes={"to": "INT"}, convert=_import),),
)

BIT_CAST_PORTABLE = Kernel(
    name="portable.bit_cast",
    op="BitCast",
    parallel=("*",),
    match=lambda site: (
        "the portable kernel knows no f64" if DType.F64 in (site.input(0).dtype, _target(site)) else None
    ),
    values=_bit_cast_values,
    source=elementwise_source,
    call=ELEMENTWISE_CALL,
)

OPERATORS = (
    CAST,
    BIT_CAST,
)
KERNELS = (
    CAST_PORTABLE,
    BIT_CAST_PORTABLE,
)
