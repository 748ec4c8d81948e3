"""Knows what the cores take for what jobs of N-EUREKA leave them, in cycles of one core for its share.
Does not know jobs, nor which layers leave something.

Counted in the compiled loops: for four channels of a pixel loads, products, limits and a store, one instruction after
the other, where GVSoC (209c147) takes two cycles for a product of integers and 1.1 for an operation of floats. What is
around loops was measured there: code that comes from L2, and the registers of the next job, which a core writes before.
"""

from __future__ import annotations

from tilewright.api import ceil_div
from tilewright.api.graph import MultiplyShift
from tilewright_siracusa.kernels.limits import WHOLE
from tilewright_siracusa.neureka.layers import EngineLayer

LANES = 4  # channels that a core requantises at once
START = 850.0  # of a job, by the core that writes its registers, and of waiting for it
_SHIFTED, _ROUNDED, _LIMITED = 24.0, 29.5, 4.0  # of four channels of a pixel; of limits that are no type's
_PART, _LINE, _PARTS = 110.0, 22.0, 9  # of pixels with the same addends, of a line of them; parts of an image
_SHARE = 150.0
_PICKED_PIXEL, _PICKED_WORD = 4.0, 3.0


def limit_of_finished(layer: EngineLayer) -> str:
    """How results less their zero point are limited: to the whole of "i8" or "u8", or to "any" numbers."""
    requant = layer.layer.requant
    return WHOLE.get((requant.low - requant.zero_point, requant.high - requant.zero_point), "any")


def finish_cycles(layer: EngineLayer, rows: int, columns: int, outputs: int) -> float:
    """Of sums: so many channels of `rows` times `columns` pixels, four channels at once."""
    lanes = _SHIFTED if isinstance(layer.layer.requant.rounding, MultiplyShift) else _ROUNDED
    lanes += _LIMITED if limit_of_finished(layer) == "any" else 0
    bordered, short = len(layer.biases) > 1, min(rows, columns)
    lines = short + 4 if bordered else short if layer.picked else 1
    parts = _PARTS if bordered else 1
    pixels = rows * columns
    return START + _SHARE + ceil_div(outputs, LANES) * (parts * _PART + lines * _LINE + pixels * lanes)


def pick_cycles(pixels: int, outputs: int) -> float:
    """Of results of which every second one is copied."""
    return START + _SHARE + pixels * (_PICKED_PIXEL + _PICKED_WORD * ceil_div(outputs, LANES))
