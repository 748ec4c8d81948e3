"""Knows iSoftmax, ITAMax and ITAPartialMax: shares of a row of bytes, as bytes from 0 on. Does not know other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel
from tilewright.api.operator import Conversion, OnnxNode, Operator
from tilewright_integer_dialect.operators.parts import NEST, like_x, row_values, rows, signature, source, taken_as

_POLYNOMIAL = ("coeffa", "coeffb", "coeffc", "log2")
_BYTES = (DType.I8, DType.U8)


def _softmax(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x, (a, b, c, log2) = np.asarray(inputs[0], np.int64), (site.node.integer(word) for word in _POLYNOMIAL)
    distance = x.max(axis=-1, keepdims=True) - x
    times = np.minimum(distance // log2, 31)
    power = (a * (times * log2 - distance + b) ** 2 + c) >> times
    return ((power * (site.node.integer("levels") - 1) // power.sum(axis=-1, keepdims=True)).astype(np.uint8),)


def _powers(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x, group = np.asarray(inputs[0], np.int64), site.node.integer("group") or site.input(0).shape[-1]
    largest = np.full(x.shape[:-1], site.input(0).dtype.limits[0], np.int64)
    total = np.zeros(x.shape[:-1], np.int64)
    for begin in range(0, x.shape[-1], group):
        part = x[..., begin : begin + group]
        own = part.max(axis=-1)
        total >>= np.where(own > largest, (own - largest + 16) >> 5, 0)
        largest = np.maximum(largest, own)
        total += (256 >> ((largest[..., None] - part + 16) >> 5)).sum(axis=-1)
    return (((_most(site) // total)[..., None] >> ((largest[..., None] - x + 16) >> 5)).astype(np.uint8),)


def _most(site: Site) -> int:
    """What is divided by the sum. In groups the unit has one bit less."""
    levels = site.node.integer("levels")
    return ((levels // 2 if site.node.integer("group") else levels) - 1) * 256


def _import(node: OnnxNode, graph: Conversion) -> None:
    a, b, c = (node.integer(word) for word in _POLYNOMIAL[:3])
    largest = a * (abs(b) + max(node.integer("log2"), 255)) ** 2 + c
    if min(a, c) < 0 or max(map(abs, (a, b, c))) >= 2**31 or largest >= 2**54 or a * b * b + c < 1:
        raise graph.refuse(
            node, f"coefficients {a}, {b}, {c}: the first and the last are not below 0, powers of 54 bits"
        )
    taken_as("integer.Softmax", *_POLYNOMIAL, "levels")(node, graph)


def _match(site: Site) -> str | None:
    dtype = site.input(0).dtype
    return None if dtype in _BYTES else f"X is {dtype.value}; rows of bytes are computed"


def _softmax_values(call: Call) -> Mapping[str, object]:
    node, x = call.site.node, call.operands["X"].dtype
    a, b, c, log2 = numbers = [node.integer(word) for word in _POLYNOMIAL]
    most, wide = node.integer("levels") - 1, _is_wide(call.site)
    label = "_".join(map(str, (*numbers, most))).replace("-", "m")
    return {
        **row_values(call),
        "function": f"tw_integer_softmax_{x.value}_{label}{'_wide' if wide else ''}",
        "numbers": "",
        "a": a,
        "b": b,
        "c": c,
        "log2": log2,
        "most": f"{most}{'' if wide else 'U'}",
        "sum_type": "int64_t" if wide else "uint32_t",
        "product_type": "int64_t" if wide else "int32_t",
    }


def _is_wide(site: Site) -> bool:
    """Whether a power, a sum of them, or a product with the largest result needs more than 31 bits."""
    a, b, c, log2 = (site.node.integer(word) for word in _POLYNOMIAL)
    largest = a * (abs(b) + max(log2, 255)) ** 2 + c
    return largest * max(site.input(0).shape[-1], site.node.integer("levels")) >= 2**31


def _powers_values(call: Call) -> Mapping[str, object]:
    site, x = call.site, call.operands["X"].dtype
    numbers = (site.node.integer("group") or site.input(0).shape[-1], x.limits[0], _most(site))
    name = f"tw_integer_powers_{x.value}"
    return {**row_values(call), "function": name, "numbers": "".join(f", {each}" for each in numbers)}


SOFTMAX = Operator(
    name="integer.Softmax",
    inputs=("X",),
    outputs=("Y",),
    summary="iSoftmax: shares of a row, by a polynomial and a shift",
    infer=like_x(DType.U8),
    reference=_softmax,
    access=rows,
    imports=(signature("iSoftmax", " ".join((*_POLYNOMIAL, "levels")), _import),),
)
POWERS = Operator(
    name="integer.ITAMax",
    inputs=("X",),
    outputs=("Y",),
    summary="ITAMax, ITAPartialMax: shares of a row, by powers of two",
    infer=like_x(DType.U8),
    reference=_powers,
    access=rows,
    imports=(signature("ITAMax", "group levels", taken_as("integer.ITAMax", "group", "levels")),),
)


def _kernel(op: str, file: str, values: Any) -> Kernel:
    return Kernel(
        name=op.lower(),
        op=op,
        match=_match,
        parallel=("*",),
        in_place=lambda site: (("X", "Y"),) if site.input(0).dtype is DType.U8 else (),
        values=values,
        source=source(file),
        call=NEST + '${function}(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step}${numbers});',
    )


OPERATORS = (SOFTMAX, POWERS)
KERNELS = (
    _kernel("integer.Softmax", "integer_softmax.c.mako", _softmax_values),
    _kernel("integer.ITAMax", "integer_powers.c.mako", _powers_values),
)
