"""Knows which model says what portable C takes for a core's part of a tile: of pools, of convolutions, of products.
Does not know what they count, nor whole nodes: `portable` does.
"""

from __future__ import annotations

from tilewright.api.kernel import TileShape
from tilewright_snitch.plain_convolutions import convolution_cycles
from tilewright_snitch.plain_products import product_cycles
from tilewright_snitch.pools import pool_cycles

_MODELS = (pool_cycles, convolution_cycles, product_cycles)


def part_cycles(op: str, tile: TileShape) -> float | None:
    """Of a tile, or a core's part of one; None where a part takes its part of the node."""
    for model in _MODELS:
        result = model(op, tile)
        if result is not None:
            return result
    return None
