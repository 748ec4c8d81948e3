"""Knows weights of 4 and 2 bits: which layers have them, and how several of them share a byte.
Does not know operators, nor how a kernel takes them apart again.

In the graph such weights are int8, as their numbers are; the attribute `weight_bits` of QConv and QGemm says how many
bits the model file gives them. A kernel that names this width (`Kernel.weight_bits`) stores a row of them, those of one
output, from a byte on: the first value in the lowest bits, signed, zeros behind the last. Depthwise weights stay bytes:
they are few, and there are fast kernels for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import WEIGHT_BITS, Attribute, Site
from tilewright.ir.rounding import ceil_div
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Bytes = npt.NDArray[np.uint8]

NARROW_BITS = (2, 4)


def limits(bits: int) -> tuple[int, int]:
    """The smallest and the largest value."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def weight_bits(site: Site) -> int:
    """How many bits each constant weight of a QConv or QGemm takes where a kernel packs them: 2, 4, or 8."""
    bits = site.node.weight_bits
    weights = site.constant(1)
    if bits not in NARROW_BITS or weights is None or site.input(1).dtype is not DType.I8 or not weights.size:
        return 8
    if site.node.op == "QConv" and site.input(1).shape[1] == 1 < site.node.integer("group", 1):
        return 8
    low, high = limits(bits)
    return bits if low <= int(weights.min()) and int(weights.max()) <= high else 8


def named_bits(bits: int) -> Mapping[str, Attribute]:
    """The attribute of a node whose weights have so many bits; none where they are bytes."""
    return {WEIGHT_BITS: bits} if bits in NARROW_BITS else {}


def row_bytes(count: int, bits: int) -> int:
    """Bytes of a row of `count` values."""
    return ceil_div(count * bits, 8)


def pack_rows(rows: Array, bits: int) -> npt.NDArray[np.uint8]:
    """[rows, count] integers that fit `bits` (signed, or unsigned ones) as [rows, bytes]."""
    import numpy as np

    each = 8 // bits
    count = rows.shape[1]
    padded = np.zeros((rows.shape[0], row_bytes(count, bits) * each), np.uint8)
    padded[:, :count] = np.asarray(rows).astype(np.int64) & ((1 << bits) - 1)
    parts = padded.reshape(rows.shape[0], -1, each)
    joined: Bytes = (parts << np.arange(0, 8, bits, dtype=np.uint8)).sum(axis=-1).astype(np.uint8)
    return joined


def unpack_rows(packed: Bytes, count: int, bits: int) -> npt.NDArray[np.int8]:
    """`pack_rows` undone: [rows, count] signed values."""
    import numpy as np

    low, _ = limits(bits)
    parts = (packed[..., np.newaxis] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
    values = parts.reshape(packed.shape[0], -1)[:, :count].astype(np.int16)
    return ((values ^ -low) + low).astype(np.int8)


def packed_alone(match: Callable[[Site], object]) -> Callable[[Site], object]:
    """`match` of a kernel that computes layers of narrow weights only."""

    def narrow(site: Site) -> object:
        return "weights have 8 bits" if weight_bits(site) == 8 else match(site)

    return narrow
