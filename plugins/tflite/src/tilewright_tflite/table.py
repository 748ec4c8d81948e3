"""Knows which conversion an operator has. Does not know what conversions do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilewright_tflite.conversion import Conversion
from tilewright_tflite.operators import (
    blocks,
    compressed,
    control,
    convolutions,
    elementwise,
    movement,
    products,
    recurrent,
    reductions,
    selection,
    signal,
    stream_frames,
    variables,
)

_FAMILIES = (
    convolutions, products, elementwise, reductions, movement, selection, blocks, recurrent, variables, control,
)  # fmt: skip
# Operators that compute the same with the axes of their images in another order.
ANY_ORDER = frozenset((*(each.code for each in elementwise.CONVERSIONS), "CONCATENATION", "DEQUANTIZE", "QUANTIZE"))
TABLE: Mapping[str, Conversion] = MappingProxyType(
    {each.code: each for family in _FAMILIES for each in family.CONVERSIONS}
)
CUSTOM: Mapping[str, Conversion] = MappingProxyType(
    {each.code: each for family in (compressed, signal, stream_frames) for each in family.CUSTOM}
)
