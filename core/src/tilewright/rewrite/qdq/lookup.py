"""Knows how elementwise operators of one quantised tensor become a table: 256 stored values, 256 results.
Does not know operators of two tensors, nor those that look at neighbours. Values of 16 bits are in `wide_lookup`.

Relu, Clip and a change of scale come out exactly as the float graph computes them.
"""

from __future__ import annotations

import numpy as np

from tilewright.rewrite.qdq.elementwise import region_of, results, stored_values
from tilewright.rewrite.qdq.island import Island, Lowered
from tilewright.rewrite.qdq.weights import Work
from tilewright.rewrite.qdq.wide_lookup import lower_wide


def lower(island: Island, work: Work) -> Lowered:
    """QLookup(X, T)."""
    region = region_of(island)
    if isinstance(region, str):
        return region
    if region.source.affine.wide or island.output.wide:
        return lower_wide(island, region, work)
    table = results(island, region, stored_values(region.source))
    name = work.draft.constant(table, f"{island.quantize.outputs[0]}_table")
    return region.node(island, "QLookup", (name,), {})


def unchanged(island: Island) -> str | None:
    """The stored value that the island only copies: dequantised and quantised again with the same numbers."""
    region = region_of(island)
    if isinstance(region, str) or region.source.affine.dtype is not island.output.dtype:
        return None
    stored = stored_values(region.source)
    return region.source.value if np.array_equal(results(island, region, stored), stored) else None
