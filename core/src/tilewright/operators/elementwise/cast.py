"""Knows Cast between floats of at most 32 bits, integers and bool.
Does not know quantisation: a Cast keeps the number, not what it stands for.

What ONNX leaves open is settled here: a float becomes an integer by dropping its fraction, out-of-range values become
the nearest limit, NaN becomes 0; an integer that does not fit wraps; everything but 0 becomes true, NaN included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.c_text.literals import c_float
from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.element_types import ELEMENT_TYPES, type_name
from tilewright.operators.c_code.c_source import ELEMENTWISE, c_template
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values

Array = npt.NDArray[np.generic]


def _target(site: Site) -> DType:
    return DType(site.node.attributes["to"])


def _infer(site: Site) -> tuple[Tensor, ...]:
    return (Tensor(name=site.node.outputs[0], dtype=_target(site), shape=site.input(0).shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    return (convert(np.asarray(inputs[0]), _target(site)),)


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


def _access(site: Site) -> Access:
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    if DType.F64 in (site.input(0).dtype, _target(site)):
        return "f64 is for constants that are folded; the portable kernel converts f32, f16, bf16, integers and bool"
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
    infer=_infer,
    reference=_reference,
    access=_access,
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

OPERATORS = (CAST,)
KERNELS = (CAST_PORTABLE,)
