"""Knows BitCast: the same bits as another type of the same size.
Does not know Cast, which keeps numbers (`cast`).

Normal form: attribute `to`. Nothing becomes bool: bytes that are neither 0 nor 1 would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.element_types import ELEMENT_TYPES, type_name
from tilewright.operators.c_code.c_functions import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]


def _target(site: Site) -> DType:
    return DType(site.node.attributes["to"])


def _infer(site: Site) -> tuple[Tensor, ...]:
    x, target = site.input(0), _target(site)
    if x.dtype.size_bytes != target.size_bytes or target is DType.BOOL:
        raise shape_error(site, f"{x.dtype.value} does not become {target.value} bit by bit")
    return (Tensor(name=site.node.outputs[0], dtype=target, shape=x.shape),)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    x = np.ascontiguousarray(np.asarray(inputs[0])).reshape(site.output.shape)
    return (x.view(_target(site).numpy).copy(),)


def _access(site: Site) -> Access:
    return parse_map(": X[...] -> Y[...]").bind({"X": site.input(0).shape, "Y": site.output.shape})


def _match(site: Site) -> str | None:
    return "the portable kernel knows no f64" if DType.F64 in (site.input(0).dtype, _target(site)) else None


def _values(call: Call) -> Mapping[str, object]:
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
    access=_access,
    imports=(Import(op_type="BitCast", since=26, attributes={"to": "INT"}, convert=_import),),
)

BIT_CAST_PORTABLE = Kernel(
    name="portable.bit_cast",
    op="BitCast",
    parallel=("*",),
    match=_match,
    values=_values,
    source=elementwise_source,
    call=ELEMENTWISE_CALL,
)

OPERATORS = (BIT_CAST,)
KERNELS = (BIT_CAST_PORTABLE,)
