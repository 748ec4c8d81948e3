"""Knows Add, Sub, Mul, Div, Mod, Max and Min of two tensors that broadcast, on floats and on integers.
Does not know quantised arithmetic: QAdd and QMul are operators of their own.

Integers wrap around, as numpy's do. Integer division drops the fraction (truncates), and gives 0 for a divisor of 0;
Mod has the sign of the divisor, or of the dividend where `fmod` is asked for, and gives 0 for a divisor of 0. A
constant divisor that holds a 0 is refused. Floats may carry a fused activation, `clip_low` and `clip_high`, but in Mod.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode, need_few_operands, with_halves
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Call, Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.c_source import elementwise_source
from tilewright.operators.c_code.walk import ELEMENTWISE_CALL, elementwise_values
from tilewright.operators.shared.elementwise import (
    Expression,
    one_type,
    pair_access,
    pair_in_place,
    pair_kernel,
    pair_operator,
)
from tilewright.operators.shared.float_results import clip_limits, clip_literals, ulp_tolerance

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
        infer=one_type,
        reference=_reference,
        access=pair_access,
        tolerance=_tolerance,
        imports=_imports(op),
    )


def _kernel(op: str) -> Kernel:
    return Kernel(
        name=f"portable.{op.lower()}",
        op=op,
        parallel=("*",),
        match=_match,
        in_place=pair_in_place,
        values=_values,
        source=elementwise_source,
        call=ELEMENTWISE_CALL,
    )


def _modulo_reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    a, b = np.asarray(inputs[0]), np.asarray(inputs[1])
    with np.errstate(all="ignore"):
        return (np.asarray((np.fmod if site.node.integer("fmod") else np.mod)(a, b)),)


def _modulo_match(site: Site) -> str | None:
    dtype = site.output.dtype
    if dtype in (DType.F64, DType.BOOL):
        return f"elements are {dtype.value}; the portable kernel computes in f32 and integers"
    return None


def _expression(site: Site) -> Expression:
    """Of unsigned integers both are one."""
    dtype = site.output.dtype
    kind = "f32" if dtype is DType.F32 else f"{dtype.value[0]}{64 if dtype.size_bytes == 8 else 32}"
    function = "fmod" if site.node.integer("fmod") and not kind.startswith("u") else "mod"
    return Expression(name=f"{function}_{dtype.value}", text=f"({dtype.c_type})tw_{function}_{kind}(a, b)")


def _modulo_import(node: OnnxNode, graph: Conversion) -> None:
    dtype, divisor = graph.tensor(node.inputs[0]).dtype, graph.constant(node.inputs[1])
    if dtype.is_integer and divisor is not None and not bool(np.all(divisor)):
        raise graph.refuse(node, "the divisor is a constant that holds a zero")
    graph.emit(node, "Mod", node.inputs, node.outputs, {"fmod": int(bool(node.integer("fmod")))})


MOD = pair_operator(
    "Mod",
    "what a divided by b leaves",
    _modulo_reference,
    (Import(op_type="Mod", since=10, attributes={"fmod": "INT"}, convert=_modulo_import, min_inputs=2, max_inputs=2),),
)

_ARITHMETIC = (
    _operator("Add", "y = a + b, broadcast"),
    _operator("Sub", "y = a - b, broadcast"),
    _operator("Mul", "y = a * b, broadcast"),
    _operator("Div", "y = a / b, broadcast; integers without the fraction"),
    _operator("Max", "y = the larger of a and b, broadcast"),
    _operator("Min", "y = the smaller of a and b, broadcast"),
)

OPERATORS = (*_ARITHMETIC, MOD)
KERNELS = (
    *(_kernel(operator.name) for operator in _ARITHMETIC),
    pair_kernel("Mod", _modulo_match, _expression),
)
