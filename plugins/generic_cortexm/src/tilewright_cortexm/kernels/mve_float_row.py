"""Knows how Helium multiplies one row of floats with constant weights, whole or in parts of its sums.
Does not know several rows (`float_products`), nor the instructions of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, row_major
from tilewright.api.kernel import Call, Kernel, Matched, PartialSums, TileShape, pack_gemm
from tilewright.api.operator import Access, parse_map, whole
from tilewright_cortexm.kernels.float_products import BYTES, HELIUM, OUTPUTS, clip_of, fours, limits, not_floats
from tilewright_cortexm.kernels.product_parts import LOOP
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def _match(site: Site) -> str | None:
    if (reason := not_floats(site)) is not None:
        return reason
    *lead, depth = site.input(0).shape
    if not depth or site.output.elements != site.output.shape[-1]:
        return f"has {int(np.prod(lead))} rows of {depth} values; this kernel has one"
    return None


def _pack(site: Matched) -> Mapping[str, Array]:
    packed = pack_gemm(site)
    weights, bias = np.asarray(packed["B"]), packed.get("C", np.zeros((), np.float32))
    return {"W": fours(weights), "B": fours(np.broadcast_to(bias, site.output.shape).reshape(-1))}


def _in_parts(site: Site) -> bool:
    """Whether sums can be kept between calls: a block reads and writes them four together."""
    return site.output.elements % OUTPUTS == 0


def _access(site: Matched) -> Access:
    a, y = site.input(0).shape, site.output.shape
    outputs = align_up(y[-1], OUTPUTS)
    constants = {"W": (outputs * a[-1],), "B": (outputs,)}
    if not _in_parts(site):
        return whole({"A": a, **constants}, {"Y": y})
    before, after = ", ".join((*(":",) * (len(a) - 1), LOOP)), ", ".join(":" * len(y))
    return parse_map(f"{LOOP} : A[{before}] W[:] B[:] -> Y[{after}]").bind({"A": a, **constants, "Y": y})


def _requires(site: Site) -> Mapping[str, Layout]:
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _instructions(tile: TileShape) -> float:
    site = tile.site
    depth = tile.extent(LOOP) if LOOP in tile.box else site.input(0).shape[-1]
    run = depth // 4 * HELIUM.four[1] + depth % 4 * HELIUM.rest[1] + HELIUM.run
    return 50 + ceil_div(site.output.elements, OUTPUTS) * (run + HELIUM.block[clip_of(site)][1])


def _values(call: Call) -> Mapping[str, object]:
    a, clip, ends = call.operands["A"], clip_of(call.site), limits(call.site)
    low, high = ends["low"], ends["high"]
    bias, y = str(call.operands["B"]), str(call.operands["Y"])
    if call.is_part:
        acc = call.operands["acc"]
        bias, y = f"({call.first}) ? {bias} : {acc}", f"({call.last}) ? {y} : {acc}"
        low, high = f"({call.last}) ? {low} : -INFINITY", f"({call.last}) ? {high} : INFINITY"
    start, count = (a.origin[-1], a.extents[-1]) if call.is_part else (0, a.shape[-1])
    return {
        "block": f"tw_mve_float_block_1_{clip}",
        "pixels": 1,
        "clip": clip,
        "taps": False,
        "half": False,
        "w": f"{call.operands['W']}{f' + ({OUTPUTS} * ({start}))' if call.is_part else ''}",
        "fields": {
            "w_block": OUTPUTS * BYTES * a.shape[-1],
            "bias": bias,
            "y": y,
            "outputs": call.site.output.elements,
            "runs": 1,
            "fours": f"({count}) / 4" if call.is_part else int(count) // 4,
            "rest": f"({count}) % 4" if call.is_part else int(count) % 4,
            "low": low,
            "high": high,
        },
    }


_CALL = """\
${block}(&(tw_float_block){
    .x = ${A},
    .w = ${w},
% for name, value in fields.items():
    .${name} = ${value},
% endfor
});"""

KERNELS = (
    Kernel(
        name="cortex-m.mve.gemm_row_f32",
        op="Gemm",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=_requires,
        pack=_pack,
        instructions=_instructions,
        values=_values,
        source=(c_template("${block}", "float_block_mve.c.mako"),),
        accumulates=lambda site: PartialSums(loops=(LOOP,), dtype=DType.F32) if _in_parts(site) else None,
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    ),
)
