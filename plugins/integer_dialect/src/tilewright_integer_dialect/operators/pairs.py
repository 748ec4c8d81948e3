"""Knows sums and differences of two tensors of bytes that are requantised at once. Does not know those of 32 bits,
which the core adds, nor who makes one step of several (`pairing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.api.graph import DType, Site, Tensor, requantise
from tilewright.api.kernel import Call, Kernel, broadcast_steps
from tilewright.api.operator import Operator
from tilewright_integer_dialect.operators.parts import NEST, broadcast_access, element_values, source
from tilewright_integer_dialect.operators.shift import numbers_of, requantised_dtype

_BYTES = (DType.I8, DType.U8)
_LARGEST_SUM = 510


def _infer(site: Site) -> tuple[Tensor, ...]:
    import numpy as np

    shape = tuple(np.broadcast_shapes(site.input(0).shape, site.input(1).shape))
    return (Tensor(name=site.node.outputs[0], dtype=requantised_dtype(site), shape=shape),)


def _reference(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    a, b = (np.asarray(array, np.int64) for array in inputs)
    sums = a + site.node.integer("sign", 1) * b
    return (requantise(sums, site.node.requant(), -1).astype(site.output.dtype.numpy),)


def _match(site: Site) -> str | None:
    wrong = [tensor.dtype.value for tensor in (site.input(0), site.input(1)) if tensor.dtype not in _BYTES]
    return f"values must be i8 or u8, found {', '.join(wrong)}" if wrong else None


def _values(call: Call) -> Mapping[str, object]:
    a, b, y = (call.operands[name] for name in "ABY")
    node, requant, rounding = call.site.node, call.site.node.requant(), numbers_of(call.site)
    shift, multiplier = rounding.shift[0], rounding.multiplier[0]
    added = rounding.addend[0] + (1 << (shift - 1) if shift and rounding.rounding == "half-up" else 0)
    narrow = _LARGEST_SUM * abs(multiplier) + abs(added) < 2**31 and shift < 32
    sign = "+" if node.integer("sign", 1) > 0 else "-"
    literal = str(added) if narrow else f"INT64_C({added})"
    types = "_".join(each.dtype.value for each in (a, b, y))
    kind = ("sum" if sign == "+" else "difference") + ("" if narrow else "_wide")
    return {
        **element_values(call, {"A": broadcast_steps(a, y), "B": broadcast_steps(b, y), "Y": y.strides}),
        "function": f"tw_integer_{kind}_{types}",
        "a_type": a.dtype.c_type,
        "b_type": b.dtype.c_type,
        "y_type": y.dtype.c_type,
        "sign": sign,
        "wide": "int32_t" if narrow else "int64_t",
        "numbers": f"{multiplier}, {literal}, {shift}, {requant.low}, {requant.high}",
    }


PAIR = Operator(
    name="integer.PairSum",
    inputs=("A", "B"),
    outputs=("Y",),
    summary="two bytes added or subtracted, and requantised",
    infer=_infer,
    reference=_reference,
    access=broadcast_access,
)
PAIR_PORTABLE = Kernel(
    name="integer.pair_sum",
    op="integer.PairSum",
    roundings=("multiply-shift",),
    match=_match,
    parallel=("*",),
    in_place=lambda site: tuple(
        (name, "Y")
        for name, tensor in (("A", site.input(0)), ("B", site.input(1)))
        if tensor.shape == site.output.shape and tensor.dtype is site.output.dtype
    ),
    values=_values,
    source=source("integer_pair.c.mako"),
    call=NEST
    + '${function}(${count}, ${A}${at["A"]}, ${a_step}, ${B}${at["B"]}, ${b_step}, ${Y}${at["Y"]}, ${y_step}, '
    "${numbers});",
)
