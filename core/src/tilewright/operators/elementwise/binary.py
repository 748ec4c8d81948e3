"""Knows Add, Sub, Mul, Div, Max and Min of two tensors that broadcast, on floats and on integers.
Does not know quantised arithmetic: QAdd and QMul are operators of their own.

Integers wrap around, as numpy's do. Integer division drops the fraction (truncates), gives 0 for a divisor of 0,
and refuses a constant divisor that holds one. Floats may carry a fused activation, `clip_low` and `clip_high`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.access.index_map import Access, parse_map
from tilewright.ir.graphs.graph import Site, Tensor
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_few_operands, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_functions import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.float_error import ulp_tolerance
from tilewright.operators.shared.fused_clip import clip_limits, clip_literals
from tilewright.operators.shared.shape_errors import shape_error

Array = npt.NDArray[np.generic]

_SYMBOLS = MappingProxyType({"Add": "+", "Sub": "-", "Mul": "*"})
_ORDERS = MappingProxyType({"Max": ">", "Min": "<"})
_ZERO_DIVISOR = "the divisor is a constant that holds a zero"


def _truncated_quotient(a: Array, b: Array) -> Array:
    divisor = np.where(b == 0, np.ones_like(b), b)
    floor: Array = np.floor_divide(a, divisor)
    inexact = np.not_equal(np.multiply(floor, divisor), a)
    opposite = np.not_equal(np.less(a, 0), np.less(divisor, 0))
    quotient = np.add(floor, (inexact & opposite).astype(floor.dtype))
    return np.asarray(np.where(b == 0, np.zeros_like(quotient), quotient))


def _divide(a: Array, b: Array) -> Array:
    return np.divide(a, b) if np.issubdtype(a.dtype, np.floating) else _truncated_quotient(a, b)


_COMPUTE: Mapping[str, Callable[[Array, Array], Array]] = MappingProxyType(
    {
        "Add": np.add,
        "Sub": np.subtract,
        "Mul": np.multiply,
        "Div": _divide,
        "Max": np.maximum,
        "Min": np.minimum,
    }
)


def _infer(site: Site) -> tuple[Tensor, ...]:
    a, b = site.input(0), site.input(1)
    if a.dtype is not b.dtype:
        raise shape_error(site, "A and B must have one type")
    try:
        shape = np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        raise shape_error(site, "the shapes of A and B do not broadcast") from None
    return (Tensor(name=site.node.outputs[0], dtype=a.dtype, shape=shape),)


def _is_clipped(site: Site) -> bool:
    return clip_limits(site.node) != (-math.inf, math.inf)


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = np.asarray(inputs[0]), np.asarray(inputs[1])
    with np.errstate(all="ignore"):
        y = np.asarray(_COMPUTE[site.node.op](a, b)).astype(a.dtype)
    if _is_clipped(site):
        low, high = (np.asarray(limit, a.dtype) for limit in clip_limits(site.node))
        y = np.minimum(np.maximum(y, low), high)
    return (y,)


def _tolerance(site: Site, inputs: Sequence[Array | None]) -> tuple[Array | None, ...]:
    (y,) = _reference(site, inputs)
    return (ulp_tolerance(4, y.astype(np.float64)) if y.dtype == np.float32 else None,)


def _access(site: Site) -> Access:
    shapes = {"A": site.input(0).shape, "B": site.input(1).shape, "Y": site.output.shape}
    return parse_map(": A[...] B[...] -> Y[...]").bind(shapes)


def _match(site: Site) -> str | None:
    dtype = site.output.dtype
    if dtype is DType.BOOL or (dtype is DType.F64 and site.node.op in _ORDERS):
        return f"elements are {dtype.value}; the portable kernel computes {site.node.op} in other types"
    if _is_clipped(site) and dtype.computed_in is not DType.F32:
        return f"clip_low and clip_high are for floats of at most 32 bits, found {dtype.value}"
    if site.node.op == "Div" and dtype.is_integer and _holds_zero(site.constant(1)):
        return _ZERO_DIVISOR
    return None


def _holds_zero(divisor: Array | None) -> bool:
    return divisor is not None and not bool(np.all(divisor))


def _integer_expression(op: str, dtype: DType) -> str:
    if op in _ORDERS:
        return f"({dtype.c_type})(a {_ORDERS[op]} b ? a : b)"
    wide = "64" if dtype.size_bytes == 8 else "32"
    if op == "Div":
        return f"({dtype.c_type})tw_div_{dtype.value[0]}{wide}(a, b)"
    # Unsigned arithmetic wraps where signed arithmetic would be undefined.
    return f"({dtype.c_type})((uint{wide}_t)a {_SYMBOLS[op]} (uint{wide}_t)b)"


def _float_expression(op: str) -> str:
    if op in _ORDERS:
        return f"tw_{op.lower()}_f32(a, b)"
    return f"a {_SYMBOLS.get(op, '/')} b"


def _values(call: Call) -> Mapping[str, object]:
    op, dtype = call.site.node.op, call.operands["Y"].dtype
    expression = _float_expression(op) if dtype.is_float else _integer_expression(op, dtype)
    name, scalars = f"{op.lower()}_{dtype.value}", {}
    if _is_clipped(call.site):
        limits = clip_literals(call.site.node)
        name, expression = f"{op.lower()}_clip_{dtype.value}", f"tw_clip({expression}, low, high)"
        scalars = {name: ("float", literal) for name, literal in limits.items()}
    return elementwise_values(call, name, expression, scalars=scalars)


def _in_place(site: Site) -> tuple[tuple[str, str], ...]:
    """Either input, where it is as large as the output: elements are read before their place is written."""
    pairs = (("A", site.input(0)), ("B", site.input(1)))
    return tuple((name, "Y") for name, tensor in pairs if tensor.shape == site.output.shape)


def _import(op: str, node: OnnxNode, graph: Conversion) -> None:
    if op == "Div" and graph.tensor(node.inputs[1]).dtype.is_integer and _holds_zero(graph.constant(node.inputs[1])):
        raise graph.refuse(node, _ZERO_DIVISOR)
    graph.emit(node, op, node.inputs, node.outputs)


def _import_chain(op: str, node: OnnxNode, graph: Conversion) -> None:
    """Max, Min and Sum of any number of tensors: one at a time, from the left."""
    need_few_operands(node, graph)
    if len(node.inputs) == 1:
        graph.rename(node, node.inputs[0])
        return
    total = node.inputs[0]
    for index, name in enumerate(node.inputs[1:-1]):
        total = graph.emit(node, op, (total, name), hint=str(index))
    graph.emit(node, op, (total, node.inputs[-1]), node.outputs)


def _imports(op: str) -> tuple[Import, ...]:
    if op in _ORDERS:
        chain = Import(op_type=op, since=6, attributes={}, convert=partial(_import_chain, op), max_inputs=2**31)
        return with_halves(chain)
    two = Import(op_type=op, since=7, attributes={}, convert=partial(_import, op), min_inputs=2, max_inputs=2)
    if op != "Add":
        return with_halves(two)
    total = Import(op_type="Sum", since=6, attributes={}, convert=partial(_import_chain, op), max_inputs=2**31)
    return with_halves(two, total)


def _operator(op: str, summary: str) -> Operator:
    return Operator(
        name=op,
        inputs=("A", "B"),
        outputs=("Y",),
        summary=summary,
        infer=_infer,
        reference=_reference,
        access=_access,
        tolerance=_tolerance,
        imports=_imports(op),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        in_place=_in_place,
        values=_values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
    )


OPERATORS = (
    _operator("Add", "y = a + b, broadcast"),
    _operator("Sub", "y = a - b, broadcast"),
    _operator("Mul", "y = a * b, broadcast"),
    _operator("Div", "y = a / b, broadcast; integers without the fraction"),
    _operator("Max", "y = the larger of a and b, broadcast"),
    _operator("Min", "y = the smaller of a and b, broadcast"),
)
KERNELS = tuple(_kernel(operator.name) for operator in OPERATORS)
