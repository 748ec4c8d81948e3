"""Knows arithmetics that multiply, add and shift: `pulp-shift`, and one for any unit of a vendor.
Does not know which units there are.

Sums are requantised by the multipliers nearest to the scales of the file, at the finest shift on which nothing that can
occur overflows (`arithmetic.shift_unit`). Sums of two tensors are one such sum in 32 bits (`arithmetic.pair_sums`).
Softmax is that of `onnx`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from tilewright.arithmetic.bounds import AccumulatorBounds
from tilewright.arithmetic.shift_unit import ShiftUnit, nearest
from tilewright.ir.graphs.arithmetic import Arithmetic
from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.operators.arithmetics.sums import BOUNDS, requantised


def shift_arithmetic(name: str, summary: str, unit: ShiftUnit) -> Arithmetic:
    """The arithmetic of a network whose sums all go through such a unit."""

    def shifted(requant: Requant, stored: StoredScales, bounds: AccumulatorBounds) -> Requant | str:
        numbers = nearest(unit, stored.ratios(), bounds)
        if isinstance(numbers, str):
            return numbers
        scale = tuple(float(ratio) for ratio in stored.ratios())
        return replace(requant, scale=scale, rounding=numbers)

    functions = {(op, 8): requantised(shifted) for op in BOUNDS}
    return Arithmetic(
        name=name,
        summary=summary,
        functions=MappingProxyType({**functions, ("QAdd", 8): _sum, ("QSoftmax", 8): _softmax}),
    )


def _sum(site: Site) -> Mapping[str, Attribute] | str:
    return {"rounding": "multiply-shift"}


def _softmax(site: Site) -> Mapping[str, Attribute] | str:
    return {"rounding": "onnx"}


PULP_SHIFT = shift_arithmetic(
    "pulp-shift", "multiply, add half, shift: 32 bits, one shift a layer, halves up", ShiftUnit()
)
