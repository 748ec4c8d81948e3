"""Knows iGELU and iHardswish, functions of one whole number. Does not know their requantisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel
from tilewright.api.operator import Operator
from tilewright_integer_dialect.operators.parts import (
    NEST,
    all_elements,
    c_types,
    like_x,
    not_integers,
    same_places,
    signature,
    source,
    taken_as,
)


def _gelu(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x, b, one = np.asarray(inputs[0], np.int64), site.node.integer("b"), site.node.integer("one")
    distance = np.minimum(np.abs(x), -b) + b
    curve = np.where(x < 0, -1, 1) * (one - distance * distance)
    return ((x * ((one + curve) >> 1)).astype(np.int32),)


def _hardswish(site: Site, inputs: Sequence[Any]) -> tuple[Any, ...]:
    import numpy as np

    x, node = np.asarray(inputs[0], np.int64), site.node
    gate = np.clip(x + node.integer("three"), 0, node.integer("six")) * node.integer("one_over_six")
    return ((x * gate).astype(np.int32),)


def _values(curve: str, *words: str) -> Callable[[Call], Mapping[str, object]]:
    def values(call: Call) -> Mapping[str, object]:
        kinds = c_types(call)
        numbers = ", ".join(str(call.site.node.integer(word)) for word in words)
        function = f"tw_integer_{curve}_{call.operands['X'].dtype.value}"
        return {**same_places(call), **kinds, "curve": curve, "function": function, "numbers": numbers}

    return values


def _operator(name: str, op_type: str, summary: str, reference: Callable[..., Any], *words: str) -> Operator:
    return Operator(
        name=name,
        inputs=("X",),
        outputs=("Y",),
        summary=summary,
        infer=like_x(DType.I32),
        reference=reference,
        access=all_elements,
        imports=(signature(op_type, " ".join(words), taken_as(name, *words)),),
    )


def _kernel(op: str, curve: str, *words: str) -> Kernel:
    return Kernel(
        name=f"integer.{curve}",
        op=op,
        match=not_integers,
        parallel=("*",),
        in_place=lambda site: (("X", "Y"),) if site.input(0).dtype is DType.I32 else (),
        values=_values(curve, *words),
        source=source("integer_curve.c.mako"),
        call=NEST + '${function}(${count}, ${X}${at["X"]}, ${x_step}, ${Y}${at["Y"]}, ${y_step}, ${numbers});',
    )


GELU = _operator("integer.GELU", "iGELU", "x times a polynomial of the second degree", _gelu, "b", "one")
HARDSWISH = _operator(
    "integer.Hardswish", "iHardswish", "x * clip(x + three, 0, six) * one_over_six", _hardswish,
    "three", "six", "one_over_six",
)  # fmt: skip

KERNELS = (
    _kernel("integer.GELU", "gelu", "b", "one"),
    _kernel("integer.Hardswish", "hardswish", "three", "six", "one_over_six"),
)
OPERATORS = (GELU, HARDSWISH)
