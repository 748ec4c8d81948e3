"""Knows what layers of floats share on the cluster: refusals, C for elements, extents of tiles.
Does not know instructions, nor how weights are stored.
"""

from __future__ import annotations

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import TileShape

FLOATS = (DType.F32, DType.F64)
HALVES = (DType.F16, DType.BF16)
WORD_KINDS = {DType.F64: "d", DType.F32: "s", DType.F16: "h", DType.BF16: "h"}  # what a register of eight bytes holds
NEAR = ("tcdm",)  # streams are read from there only
LANES_BYTES = 64  # of scratch: two sums of eight outputs


def not_floats(site: Site) -> str | None:
    """Why these are not all f32, or all f64; None where they are."""
    tensors = [tensor for tensor in (*site.inputs, *site.outputs) if tensor is not None]
    wanted = site.output.dtype
    if wanted not in FLOATS or any(tensor.dtype is not wanted for tensor in tensors):
        result = ", ".join(sorted({tensor.dtype.value for tensor in tensors}))
        return f"values must all be f32 or all f64, found {result}"
    return "has no elements" if any(0 in tensor.shape for tensor in tensors) else None


def not_halves(site: Site) -> str | None:
    """Why these are not all f16, or all bf16; None where they are."""
    result = sorted({tensor.dtype.value for tensor in (*site.inputs, *site.outputs) if tensor is not None})
    if len(result) > 1 or site.output.dtype not in HALVES:
        return f"values must all be f16 or all bf16, found {', '.join(result)}"
    return "has no elements" if 0 in (*site.input(0).shape, *site.output.shape) else None


def element_texts(dtype: DType) -> dict[str, object]:
    """For templates: the C type of values, that of elements in memory, and how C reads and writes one."""
    half, kind = dtype.is_half, dtype.value
    return {
        "type": dtype.computed_in.c_type,
        "stored": dtype.c_type,
        "kind": kind,
        "load": (lambda place: f"tw_f32_of_{kind}({place})") if half else str,
        "rounded": (lambda value: f"tw_{kind}_of_f32({value})") if half else str,
    }


def trips(tile: TileShape, *loops: str) -> int:
    """The product of these loops' extents; those that the tile does not have count as 1."""
    count = 1
    for loop in loops:
        low, high = tile.box.get(loop, (0, 1))
        count *= high - low
    return count
