"""Knows QLookup on every core: four bytes in a turn. Does not know what is in a table, nor vectors (`mve_tables`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, Nest, nest, walk
from tilewright_cortexm.kernels.elementwise import NEST
from tilewright_cortexm.kernels.products import BYTES
from tilewright_cortexm.kernels.row_tiles import tile_elements
from tilewright_cortexm.kernels.sources import c_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """The innermost loop over X and Y together, in the layouts that they have; `outer` is the rest."""

    count: str
    x_step: int
    y_step: int
    outer: Nest


def bytes_of(call: Call) -> Bytes:
    """Any order of elements is as good, as long as X and Y have the same."""
    x, y = call.operands["X"], call.operands["Y"]
    rows = walk(y.extents, {"X": x.strides, "Y": y.strides}, "Y")
    return Bytes(count=rows.extents[-1], x_step=rows.steps["X"][-1], y_step=rows.steps["Y"][-1], outer=nest(rows, 1))


def refused(site: Site) -> str | None:
    """Why this is no table of bytes for bytes, or None."""
    if any(tensor.dtype not in BYTES for tensor in (site.input(0), site.input(1), site.output)):
        return "values must be i8 or u8"
    return None


def _values(call: Call) -> Mapping[str, object]:
    x, rows = call.operands["X"], bytes_of(call)
    start = " + 128" if x.dtype is DType.I8 else ""
    return {
        "function": f"tw_lookup_{x.dtype.value}",
        "x_type": x.dtype.c_type,
        "nest": rows.outer,
        "arguments": f"(const {x.dtype.c_type} *){x}{rows.outer.offsets['X']}, {rows.x_step}, "
        f"(const uint8_t *){call.operands['T']}{start}, "
        f"(uint8_t *){call.operands['Y']}{rows.outer.offsets['Y']}, {rows.y_step}, {rows.count}",
    }


KERNELS = (
    Kernel(
        name="cortex-m.qlookup",
        op="QLookup",
        target="cortex-m",
        engine="cpu",
        match=refused,
        in_place=lambda site: (("X", "Y"),),
        instructions=lambda tile: 4.4 * tile_elements(tile) + 30,
        values=_values,
        source=(c_template("${function}", "lookup.c.mako"),),
        call=NEST + "${function}(${arguments});",
    ),
)
