"""Knows how Helium reads tables: QLookup sixteen bytes at a time, the exponentials of QSoftmax four at a time.
Does not know what is in a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape, nest, refused_softmax, softmax_table, walk
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.lookup import bytes_of, refused
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

# --- QLookup


def _lookup_values(call: Call) -> Mapping[str, object]:
    x, rows = call.operands["X"], bytes_of(call)
    near = rows.x_step == 1 and rows.y_step == 1
    flip = 128 if x.dtype is DType.I8 else 0
    return {
        "function": f"tw_mve_lookup{'' if near else '_apart'}_{flip}",
        "near": near,
        "flip": flip,
        "nest": rows.outer,
        "arguments": f"(const uint8_t *){x}{rows.outer.offsets['X']}, {rows.x_step}, "
        f"(const uint8_t *){call.operands['T']}, "
        f"(uint8_t *){call.operands['Y']}{rows.outer.offsets['Y']}, {rows.y_step}, {rows.count}",
    }


# --- QSoftmax


def _axis(site: Site) -> int:
    return site.node.integer("axis", -1) % len(site.input(0).shape)


def _match_softmax(site: Site) -> str | None:
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.output)):
        return "values must be i8 or u8"
    return refused_softmax(site)


def _softmax_access(site: Site) -> Access:
    entries = len(softmax_table(site)) + 1
    return whole({"X": site.input(0).shape, "T": (entries,)}, {"Y": site.output.shape})


def _pack_softmax(site: Site) -> Mapping[str, Array]:
    """The exponentials, and a zero for all that lie further below the largest element."""
    return {"T": np.append(softmax_table(site), np.uint32(0))}


def _softmax_values(call: Call) -> Mapping[str, object]:
    node, x, y, axis = call.site.node, call.operands["X"], call.operands["Y"], _axis(call.site)
    others = [index for index in range(len(x.shape)) if index != axis]
    steps = {name: [operand.strides[index] for index in others] for name, operand in (("X", x), ("Y", y))}
    outer = nest(walk([y.extents[index] for index in others], steps, "Y"), 0)
    near = x.strides[axis] == 1 and y.strides[axis] == 1
    sign = "u" if x.dtype is DType.U8 else "s"
    numbers = (
        y.shape[axis], x.strides[axis], y.strides[axis], len(softmax_table(call.site)),
        f"UINT32_C({round(node.number('y_scale') * 2**31)})",
        *(node.integer(name) for name in ("zero_point", "low", "high")),
    )  # fmt: skip
    return {
        "function": f"tw_mve_softmax_{sign}{'' if near else '_apart'}",
        "near": near,
        "sign": sign,
        "nest": outer,
        "arguments": f"(const uint8_t *){x}{outer.offsets['X']}, {call.operands['T']}, "
        f"(uint8_t *){y}{outer.offsets['Y']}, {', '.join(map(str, numbers))}",
    }


def _softmax_instructions(tile: TileShape) -> float:
    """Executed instructions."""
    y = tile.site.output
    return 6.5 * y.elements + 90 * (y.elements / y.shape[_axis(tile.site)]) + 20


KERNELS = (
    Kernel(
        name="cortex-m.mve.qlookup",
        op="QLookup",
        target="cortex-m",
        engine="mve",
        match=refused,
        in_place=lambda site: (("X", "Y"),),
        instructions=lambda tile: 0.4 * tile_elements(tile) + 30,
        values=_lookup_values,
        source=(c_template("${function}", "mve_lookup.c.mako"),),
        call=NEST + "${function}(${arguments});",
        includes=("<stdint.h>", "<string.h>"),
    ),
    Kernel(
        name="cortex-m.mve.qsoftmax",
        op="QSoftmax",
        target="cortex-m",
        engine="mve",
        match=_match_softmax,
        access=_softmax_access,
        pack=_pack_softmax,
        in_place=lambda site: (("X", "Y"),),
        instructions=_softmax_instructions,
        values=_softmax_values,
        source=(c_template("${function}", "mve_softmax.c.mako"),),
        call=NEST + "${function}(${arguments});",
        includes=("<stdint.h>", "<string.h>"),
    ),
)
