"""Knows which conversion an operator has. Does not know what conversions do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright_tflite.conversion import Conversion
from tilewright_tflite.operators import (
    blocks,
    control,
    convolutions,
    elementwise,
    movement,
    products,
    recurrent,
    reductions,
    variables,
)

_FAMILIES = (convolutions, products, elementwise, reductions, movement, blocks, recurrent, variables, control)
ELEMENTWISE = frozenset(each.code for each in elementwise.CONVERSIONS)  # one element at a time
TABLE: Mapping[str, Conversion] = MappingProxyType(
    {each.code: each for family in _FAMILIES for each in family.CONVERSIONS}
)
