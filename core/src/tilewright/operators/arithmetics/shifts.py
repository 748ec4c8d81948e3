"""Knows arithmetics that multiply, add and shift: `pulp-shift`, and one for any unit of a vendor.
Does not know which units there are.

Sums are requantised by the multipliers nearest to the scales of the file, at the finest shift on which nothing that can
occur overflows (`arithmetic.shift_unit`). Sums of two tensors are one such sum in 32 bits (`arithmetic.pair_sums`).
Softmax is that of `onnx`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.arithmetic.shift_unit import ShiftUnit, nearest
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.graphs.graph import Attribute, Site

if TYPE_CHECKING:
    from tilewright.arithmetic.bounds import AccumulatorBounds
    from tilewright.ir.tensors.requant import Requant, StoredScales

_REQUANTISED = ("QAveragePool", "QConv", "QGemm", "QMatMul", "QMul", "QReduceMean", "QResizeLinear")


def shift_arithmetic(name: str, summary: str, unit: ShiftUnit) -> Arithmetic:
    """The arithmetic of a network whose sums all go through such a unit: what `Platform.arithmetics` offers."""
    functions = {(op, 8): partial(_declared, unit) for op in _REQUANTISED}
    return Arithmetic(
        name=name,
        summary=summary,
        functions=MappingProxyType({**functions, ("QAdd", 8): _sum, ("QSoftmax", 8): _softmax}),
    )


def _declared(unit: ShiftUnit, site: Site) -> Mapping[str, Attribute] | str:
    """The operators are imported when a network is asked about, and not with the platform that offers this."""
    from tilewright.operators.arithmetics.sums import requantised

    return requantised(partial(_shifted, unit))(site)


def _shifted(unit: ShiftUnit, requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
    numbers = nearest(unit, stored.ratios(), bounds)
    if isinstance(numbers, str):
        return numbers
    return replace(requant, scale=tuple(float(ratio) for ratio in stored.ratios()), rounding=numbers)


def _sum(site: Site) -> Mapping[str, Attribute] | str:
    return {"rounding": "multiply-shift"}


def _softmax(site: Site) -> Mapping[str, Attribute] | str:
    return {"rounding": "onnx"}


PULP_SHIFT = shift_arithmetic(
    "pulp-shift", "multiply, add half, shift: 32 bits, one shift a layer, halves up", ShiftUnit()
)
