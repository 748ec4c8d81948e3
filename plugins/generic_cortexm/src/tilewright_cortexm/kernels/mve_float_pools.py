"""Knows how Helium pools floats: the largest value or the mean of windows, four channels at a time.
Does not know bytes (`mve_pools`).
"""

from __future__ import annotations

from collections.abc import Mapping

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, TileShape
from tilewright_cortexm.kernels import pools
from tilewright_cortexm.kernels.float_products import clip_of, limits
from tilewright_cortexm.kernels.pools import PoolShape, pool
from tilewright_cortexm.kernels.row_tiles import product
from tilewright_cortexm.kernels.sources import c_template

_LANES = 4
_TAP = {"MaxPool": 7.0, "AveragePool": 4.0}  # instructions of a tap of four channels
_TAIL = {"MaxPool": 2.0, "AveragePool": 1.0}  # and where channels do not come in fours
_WINDOW, _BLOCK, _ROW = 12.0, 7.0, 4.5


def _match(site: Site) -> PoolShape | str:
    return pool(site, (DType.F32,))


def _instructions(tile: TileShape) -> float:
    layer: PoolShape = tile.site.analysis
    op, part = tile.site.node.op, pools.share(tile, layer)
    if op == "AveragePool" and layer.in_parts and part < 1:
        return layer.channels / _LANES * (part * layer.taps * 4 + 50) + 40
    tap = _TAP[op] + (_TAIL[op] if layer.channels % _LANES else 0)
    block = layer.taps * tap + layer.windows.kernel[0] * _ROW + _BLOCK
    return part * pools.windows(layer) * (ceil_div(layer.channels, _LANES) * block + _WINDOW)


def _values(call: Call) -> Mapping[str, object]:
    layer: PoolShape = call.site.analysis
    average, tail = call.site.node.op == "AveragePool", layer.channels % _LANES > 0
    kind, clip = "average" if average else "max", clip_of(call.site)
    padding = average and bool(call.site.node.integer("count_include_pad"))
    name = f"tw_mve_float_{kind}_{clip}{'_tail' if tail else ''}"
    numbers = (int(padding), *layer.counted_fields(call))
    return {
        "function": "tw_mve_float_average_part" if call.is_part else name,
        "kind": kind,
        "tail": tail,
        "clip": clip,
        "numbers": ", ".join(map(str, numbers)),
        **pools.call_values(call, layer),
        **limits(call.site),
        **_part_values(call),
    }


def _part_values(call: Call) -> Mapping[str, object]:
    layer: PoolShape = call.site.analysis
    if not call.is_part:
        return {"part": False, "acc": "", "sums": ""}
    pixels = product(call.operands["X"].extents[2], layer.width)
    sums = f"{pixels}, {layer.channels}, {call.first}, {call.last}, {layer.taps}"
    return {"part": True, "acc": call.operands["acc"], "sums": sums}


_CALL = """\
% if part:
${function}(${X}, ${Y}, ${acc}, ${sums}, ${low}, ${high});
% else:
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_windows){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${X}${at(x_bytes)}, ${Y}${at(y_bytes)}, ${numbers}, ${low}, ${high});
% endif"""

_POOL = c_template("${function}", "mve_float_pool.c.mako")
_PART = c_template("${function}", "mve_float_average_part.c.mako")


def _kernel(op: str, name: str) -> Kernel:
    average = op == "AveragePool"
    return Kernel(
        name=f"cortex-m.mve.{name}_f32",
        op=op,
        target="cortex-m",
        engine="mve",
        match=_match,
        access=lambda site: pools.access(site, site.analysis),
        requires=pools.requires,
        instructions=_instructions,
        values=_values,
        source=lambda values: (_PART if values["part"] else _POOL,),
        accumulates=lambda site: pools.accumulates(site.analysis, DType.F32) if average else None,
        call=_CALL,
        includes=("<stdint.h>", "<stddef.h>", "<math.h>"),
    )


KERNELS = (_kernel("MaxPool", "max_pool"), _kernel("AveragePool", "average_pool"))
