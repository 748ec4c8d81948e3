"""Knows how kernels over channels-last images compute some of their rows: which they read, and what structs say then.
Does not know instructions, nor which rows are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, TileShape, Windows
from tilewright.api.operator import Access, parse_map, whole


def image_access(
    site: Site, windows: Windows, constants: Mapping[str, tuple[int, ...]], *, least_columns: int = 1
) -> Access:
    """X and Y row by row, constants whole. In one piece: several images, signals, and rows of less than `least_columns`
    pixels, which a kernel computes together.
    """
    x, y = site.input(0).shape, site.output.shape
    if len(x) != 4 or x[0] != 1 or y[2] == 1 or y[3] < least_columns:
        return whole({"X": x, **constants}, {"Y": y})
    rows = f"h*{windows.strides[0]} + y*{windows.dilations[0]} - {windows.before[0]}"
    packed = " ".join(f"{name}[:]" for name in constants)
    text = f"h y<{windows.kernel[0]} : X[:, :, {rows}?, :] {packed} -> Y[:, :, h, :]"
    return parse_map(text).bind({"X": x, **constants, "Y": y})


def tile_rows(tile: TileShape) -> int:
    """Rows of the result in a tile."""
    shape = tile.site.output.shape
    return tile.extent("h") if "h" in tile.box else (shape[2] if len(shape) > 3 else 1)


def tile_elements(tile: TileShape) -> float:
    """Elements of the result in a tile."""
    elements = float(tile.site.output.elements)
    for loop in tile.access.loops:
        if loop.kind == "parallel":
            elements *= tile.extent(loop.name) / max(loop.extent, 1)
    return elements


def row_fields(call: Call) -> Mapping[str, object]:
    """Height and padding of the rows that a call reads, and how many it computes; nothing for a whole image."""
    x, y = call.operands.get("X"), call.operands["Y"]
    if x is None or len(y.shape) != 4 or y.extents[2] == str(y.shape[2]):
        return {}
    return {"height": x.extents[2], "top": x.before[2], "out_height": y.extents[2]}
