"""Knows how kernels over channels-last images compute some rows, or some columns of these: what they read, and what
structs say then. Does not know instructions, nor which of them are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tilewright.api.graph import Layout, Site, channels_last, row_major
from tilewright.api.kernel import Call, TileShape, Windows
from tilewright.api.operator import Access, parse_map, whole


def image_access(
    site: Site, windows: Windows, constants: Mapping[str, tuple[int, ...]], *, least_columns: int = 1
) -> Access:
    """X and Y by rows and columns, constants whole. In one piece: several images, signals, and rows of less than
    `least_columns` pixels, which a kernel computes together.
    """
    x, y = site.input(0).shape, site.output.shape
    if len(x) != 4 or x[0] != 1 or y[2] == 1 or y[3] < least_columns:
        return whole({"X": x, **constants}, {"Y": y})
    rows, columns = (
        f"{out}*{windows.strides[axis]} + {tap}*{windows.dilations[axis]} - {windows.before[axis]}"
        for axis, (out, tap) in enumerate((("h", "y"), ("w", "x")))
    )
    packed = " ".join(f"{name}[:]" for name in constants)
    taps = f"y<{windows.kernel[0]} x<{windows.kernel[1]}"
    text = f"h w {taps} : X[:, :, {rows}?, {columns}?] {packed} -> Y[:, :, h, w]"
    return parse_map(text).bind({"X": x, **constants, "Y": y})


def image_layouts(site: Site) -> Mapping[str, Layout]:
    """Of a kernel that reads and writes images: channels are neighbours."""
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def product_layouts(site: Site) -> Mapping[str, Layout]:
    """Of a kernel of convolutions and matrices: images with neighbouring channels, matrices as they are."""
    if site.node.op in ("Conv", "QConv"):
        return image_layouts(site)
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def tile_rows(tile: TileShape) -> int:
    """Rows of the result in a tile."""
    shape = tile.site.output.shape
    return tile.extent("h") if "h" in tile.box else (shape[2] if len(shape) > 3 else 1)


def tile_columns(tile: TileShape) -> int:
    """Columns of the result in a tile."""
    return tile.extent("w") if "w" in tile.box else tile.site.output.shape[-1]


def tile_elements(tile: TileShape) -> float:
    """Elements of the result in a tile."""
    elements = float(tile.site.output.elements)
    for loop in tile.access.loops:
        if loop.kind == "parallel":
            elements *= tile.extent(loop.name) / max(loop.extent, 1)
    return elements


def in_rows(call: Call) -> bool:
    """Whether a call computes some rows or columns of an image, or is given some: sizes are those of its operands."""
    x, y = call.operands.get("X"), call.operands["Y"]
    if x is None or len(y.shape) != 4 or call.extents.keys().isdisjoint(("h", "w")):
        return False
    return any(operand.extents[2:] != tuple(map(str, operand.shape[2:])) for operand in (x, y))


def in_stripe(call: Call) -> bool:
    """Whether it computes some columns: then rows of the result need not follow one another."""
    return in_rows(call) and call.operands["Y"].extents[3] != str(call.operands["Y"].shape[3])


def row_fields(call: Call) -> Mapping[str, object]:
    """Sizes and padding of what a call reads and computes, and bytes from row to row; nothing for a whole image."""
    if not in_rows(call):
        return {}
    x, y = call.operands["X"], call.operands["Y"]
    return {
        "width": x.extents[3],
        "height": x.extents[2],
        "x_row": x.strides[2],
        "out_width": y.extents[3],
        "out_height": y.extents[2],
        "y_row": y.strides[2],
        "top": x.before[2],
        "left": x.before[3],
    }


def product(*factors: object) -> str:
    """The product of numbers and of C, as C: 1 is left out, and numbers, names and members have no parentheses."""
    texts = [text for text in map(str, factors) if text != "1"]
    return " * ".join(text if re.fullmatch(r"[\w.]+", text) else f"({text})" for text in texts) or "1"
