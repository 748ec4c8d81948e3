"""Knows what portable matrix products of floats take on a core of the cluster for a part of a tile.
Does not know how a tile is shared, nor any other operator.

Portable C computes four columns beside each other, and what is left of a row one by one. The figures are cycles of the
simulated core with GVSoC's timing (gcc 12, -O3), in calls that do not know how many columns they have; those of 16 bits
are of GVSoC, at shapes of the tests: there, gcc keeps sums in integer registers, in some layers and not in others, and
every move of one waits. Of Gemm, they are the mean of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import DType
from tilewright.api.kernel import TileShape


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductCycles:
    """Of a row, a block of four columns, a column by itself; of a product in such a block, and of one by itself."""

    row: float
    four: float
    one: float
    product_of_four: float
    product_alone: float


_WIDE = ProductCycles(row=67.0, four=53.0, one=23.0, product_of_four=4.0, product_alone=9.0)
_PRODUCTS: Mapping[tuple[str, DType], ProductCycles] = {
    **{(op, dtype): _WIDE for op in ("Gemm", "MatMul") for dtype in (DType.F32, DType.F64)},
    ("MatMul", DType.BF16): ProductCycles(row=78.0, four=105.0, one=33.0, product_of_four=17.5, product_alone=28.0),
    ("Gemm", DType.BF16): ProductCycles(row=78.0, four=105.0, one=33.0, product_of_four=13.0, product_alone=20.0),
    ("MatMul", DType.F16): ProductCycles(row=262.0, four=147.0, one=126.0, product_of_four=34.0, product_alone=46.0),
    ("Gemm", DType.F16): ProductCycles(row=262.0, four=147.0, one=126.0, product_of_four=27.0, product_alone=44.0),
}


def product_cycles(op: str, tile: TileShape) -> float | None:
    """Of a tile, or a core's part of one; None for what is no product of floats."""
    known = _PRODUCTS.get((op, tile.site.output.dtype))
    if known is None:
        return None
    *rows, columns = (span.extent for span in tile.access.window("Y", tile.box))
    low, high = tile.box["k"]
    fours, ones = divmod(columns, 4)
    row = fours * (known.four + 4 * known.product_of_four * (high - low))
    row += ones * (known.one + known.product_alone * (high - low))
    return math.prod(rows) * (known.row + row)
