"""Knows Pow: one tensor to the power of another, on floats and integers; constant small powers become products.
Does not know roots (`unary_functions`).

The result has the base's type. Special values are as in C's pow: 1 to any power and any number to the power 0 are 1;
an infinite or zero base, or an infinite exponent, gives what the limit is. Between integers it wraps; 0 to a negative
power is 0, and what has a fraction loses it; beyond the type's limits a power that is no integer is at the limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from tilewright.ir.graphs.graph import Site
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.shared.elementwise import Expression, broadcast_output, pair_kernel, pair_operator
from tilewright.operators.shared.float_results import ulp_tolerance

Array = npt.NDArray[np.generic]
Doubles = npt.NDArray[np.float64]

_PRODUCTS: Mapping[float, tuple[str, ...]] = {  # exponent -> operators, first to last; Mul is with what went in
    1.0: (),
    2.0: ("Mul",),
    3.0: ("Mul", "Mul"),
    4.0: ("Mul", "Square"),
    -1.0: ("Reciprocal",),
    -2.0: ("Mul", "Reciprocal"),
}


def _integer_powers(base: Array, exponent: Array) -> Array:
    """Products modulo the type's range, by squaring; negative exponents leave nothing but powers of 1 and -1."""
    a, b = np.broadcast_arrays(base, np.asarray(exponent))
    result, square = np.ones_like(a), a.copy()
    count = np.where(b < 0, np.where(a == -1, b % 2, 0), b).astype(np.uint64)
    while count.any():
        result = np.where(count & np.uint64(1), result * square, result)
        square = square * square
        count = count >> np.uint64(1)
    return np.where((b < 0) & (np.abs(a) != 1), 0, result).astype(base.dtype)


def _fraction_powers(base: Array, exponent: Array) -> Array:
    """Integers to powers that are none, cut to integers; within 2^-40 of the next one they are that one."""
    with np.errstate(all="ignore"):
        powers = np.power(np.maximum(base, 0).astype(np.float64), exponent.astype(np.float64)) * (1 + 2.0**-40)
    whole = np.floor(np.minimum(np.nan_to_num(powers, nan=0.0), _largest(DType.from_numpy(base.dtype))))
    return whole.astype(base.dtype)


def _largest(dtype: DType) -> float:
    """The largest float64 that the type holds."""
    low, high = dtype.limits
    return float(min(high, 2**64 - 2**11 if low == 0 else 2**63 - 2**10))


def _integer_to_any(base: Array, exponent: Array) -> Array:
    if not np.issubdtype(exponent.dtype, np.floating):
        return _integer_powers(base, exponent)
    whole = np.isfinite(exponent) & (np.abs(exponent) < 2.0**63) & (np.trunc(exponent) == exponent)
    integers = _integer_powers(base, np.where(whole, exponent, 0).astype(np.int64))
    return np.where(whole, integers, _fraction_powers(base, exponent)).astype(base.dtype)


def _float_powers(inputs: Sequence[Array | None]) -> Doubles:
    with np.errstate(all="ignore"):
        powers: Doubles = np.power(np.asarray(inputs[0], np.float64), np.asarray(inputs[1]).astype(np.float64))
    return powers


def _reference(site: Site, inputs: Sequence[Array | None]) -> tuple[Array, ...]:
    with np.errstate(all="ignore"):
        if site.output.dtype is DType.F32:
            return (_float_powers(inputs).astype(np.float32),)
        return (_integer_to_any(np.asarray(inputs[0]), np.asarray(inputs[1])),)


def _match(site: Site) -> str | None:
    base, exponent = site.input(0).dtype, site.input(1).dtype
    if base is DType.F32 and (exponent is DType.F32 or exponent.is_integer):
        return None
    if base.is_integer and (exponent is DType.F32 or exponent.is_integer):
        return None
    return f"{base.value} to the power of {exponent.value} is not computed"


def _expression(site: Site) -> Expression:
    base, exponent = site.input(0).dtype, site.input(1).dtype
    name = f"pow_{base.value}_{exponent.value}"
    if base is DType.F32:
        return Expression(name=name, text="tw_powf(a, (double)b)")
    # Unsigned products wrap where signed ones would be undefined.
    if exponent.is_integer:
        return Expression(name=name, text=_whole_power(base, "b", exponent.limits[0] < 0))
    whole = "b > -0x1.0p+63f && b < 0x1.0p+63f && (float)(int64_t)b == b"
    integer = _whole_power(base, "(int64_t)b", True)
    largest = _largest(base).hex()
    fraction = f"({base.c_type})tw_pow_fraction((double)a, (double)b, {largest})"
    return Expression(name=name, text=f"{whole} ? ({integer}) : {fraction}")


def _whole_power(base: DType, exponent: str, signed: bool) -> str:
    """C of an integer to an integer's power; a negative one leaves nothing but powers of 1 and -1."""
    power = f"({base.c_type})tw_pow_int((uint64_t)a, (uint64_t){exponent})"
    if not signed:
        return power
    minus_one = f"a == -1 ? ({base.c_type})(1 - 2 * ({exponent} & 1)) : " if base.limits[0] < 0 else ""
    return f"b < 0 ? ({minus_one}({base.c_type})(a == 1)) : {power}"


# --- imports


def _import(node: OnnxNode, graph: Conversion) -> None:
    base, exponent = graph.tensor(node.inputs[0]), graph.tensor(node.inputs[1])
    if DType.F64 in (base.dtype, exponent.dtype):
        raise graph.refuse(node, "f64 is not computed")
    steps = _steps(node, graph)
    if steps is None:
        graph.emit(node, "Pow", node.inputs, node.outputs)
        return
    value = node.inputs[0]
    for op in steps:
        operands = (value, node.inputs[0]) if op == "Mul" else (value, value) if op == "Square" else (value,)
        value = graph.emit(node, "Mul" if op == "Square" else op, operands, hint=op.lower())
    graph.rename(node, value)


def _steps(node: OnnxNode, graph: Conversion) -> tuple[str, ...] | None:
    """The operators of a constant small power of floats; None where it is not that."""
    base, exponents = graph.tensor(node.inputs[0]), graph.constant(node.inputs[1])
    if exponents is None or exponents.size == 0 or base.dtype is not DType.F32 or exponents.ndim > len(base.shape):
        return None
    if any(own != 1 and own != of for own, of in zip(exponents.shape[::-1], base.shape[::-1], strict=False)):
        return None
    wanted = np.unique(exponents.astype(np.float64))
    return _PRODUCTS.get(float(wanted[0])) if wanted.size == 1 else None


_two = partial(Import, op_type="Pow", attributes={}, convert=_import, min_inputs=2, max_inputs=2)

POW = pair_operator(
    "Pow",
    "y = a to the power b, broadcast",
    _reference,
    (_two(since=7), _two(since=12)),
    infer=broadcast_output,
    tolerance=lambda site, inputs: (
        ulp_tolerance(4, _float_powers(inputs)) if site.output.dtype is DType.F32 else None,
    ),
)

OPERATORS = (POW,)
KERNELS = (pair_kernel("Pow", _match, _expression),)
