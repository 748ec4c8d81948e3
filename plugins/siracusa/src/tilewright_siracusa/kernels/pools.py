"""Knows how the cluster pools bytes: sums as dot products with ones, and the larger of four bytes at once.
Does not know floats, nor other reductions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, Windows, image_fields, tap_fields, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import average_cycles, max_cycles, trips
from tilewright_siracusa.kernels.layers import BLOCK, BYTES, MOST_TAPS
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.sources import LANES, c_template
from tilewright_siracusa.kernels.windows import WINDOWS_AT_CALL, WINDOWS_CALL

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def _match(site: Site) -> Windows | str:
    x, windows = site.input(0), windows_of(site.node)
    if x.dtype not in BYTES or site.output.dtype not in BYTES:
        return "values must be i8 or u8"
    if len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    if 0 in x.shape or 0 in site.output.shape:
        return "has no elements"
    return f"has more than {MOST_TAPS} taps along an axis" if max(windows.kernel) > MOST_TAPS else windows


def _match_average(site: Site) -> Windows | str:
    if len(site.node.requant().scale) == 1 and _uneven(site):
        return "windows count different numbers of elements, but there is one scale for all"
    return _match(site)


def _uneven(site: Site) -> bool:
    """Whether windows reach outside and only what is inside counts, or beyond all padding."""
    windows = windows_of(site.node)
    inside_counts = any((*windows.before, *windows.after)) and not site.node.integer("count_include_pad")
    return windows.ceil_mode or inside_counts


def _map(site: Matched, scales: str) -> Access:
    windows: Windows = site.analysis
    outs, taps = windows.output_loops, windows.tap_loops
    text = (
        f"n c {' '.join(outs)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,c,{','.join(windows.map_indices())}] {scales} -> Y[n,c,{','.join(outs)}]"
    )
    shapes = {"X": site.input(0).shape, "Y": site.output.shape}
    if scales:
        shapes["R"] = (len(site.node.requant().scale),)
    return parse_map(text).bind(shapes, windows.map_values())


def _requires(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _pack(site: Site) -> Mapping[str, Array]:
    return {"R": np.asarray(site.node.requant().scale, np.float32).view(np.int32)}


def _average_values(call: Call) -> Mapping[str, object]:
    node, x = call.site.node, call.operands["X"]
    windows = call.site.analysis.two_axes
    requant = node.requant()
    reach = 511.0 * max(scale * (index + 1) for index, scale in enumerate(requant.scale)) * windows.kernel[0]
    kind = "us" if x.dtype is DType.U8 else "ss"
    limit = limit_of(requant, reach * windows.kernel[1])
    taps = windows.kernel[1]
    edges = any((*windows.before, *windows.after)) or windows.ceil_mode
    return {
        "function": f"tw_xp_average_pool_{kind}_{limit}_{taps}_{int(edges)}",
        "kind": kind,
        "limit": limit,
        "weighted": False,
        "taps": taps,
        "pair": 0,
        "edges": edges,
        "fields": {
            **image_fields(call),
            **tap_fields(windows),
            "padding": 0,
            "to": limits(requant, limit),
        },
        "counts": _counts(call, windows),
    }


def _counts(call: Call, windows: Windows) -> str:
    """A `tw_xp_counts` initialiser."""
    node, x = call.site.node, call.operands["X"]
    fields = {
        "zero_point": node.integer("x_zero_point"),
        "scales": len(node.requant().scale),
        "padding": int(bool(node.integer("count_include_pad"))),
        "row_end": "1" if len(x.shape) == 3 else behind(x.origin[2], x.shape[2] + windows.after[0]),
        "column_end": behind(x.origin[-1], x.shape[-1] + windows.after[1]),
    }
    return "{" + ", ".join(f".{name} = {value}" for name, value in fields.items()) + "}"


def behind(origin: str, end: int) -> str:
    """How many positions there are from `origin` on, as C."""
    if origin.isdigit():
        return str(end - int(origin))
    return f"{end} - {origin}" if re.fullmatch(r"[\w.]+", origin) else f"{end} - ({origin})"


def _max_values(call: Call) -> Mapping[str, object]:
    dtype = call.operands["X"].dtype.value
    windows = call.site.analysis.two_axes
    return {
        "function": f"tw_xp_max_pool_{dtype}",
        "type": dtype,
        "fields": {**image_fields(call), **tap_fields(windows)},
    }


def _average_cycles(tile: TileShape) -> float:
    kernel = tile.site.analysis.two_axes.kernel
    return average_cycles(trips(tile, "n", "h", "w"), trips(tile, "c"), kernel)


def _max_cycles(tile: TileShape) -> float:
    taps = math.prod(tile.site.analysis.kernel)
    return max_cycles(trips(tile, "n", "h", "w"), trips(tile, "c"), taps)


AVERAGE = Kernel(
    name="siracusa.qaverage_pool",
    op="QAveragePool",
    target="siracusa",
    match=_match_average,
    access=lambda site: _map(site, "R[:]"),
    requires=_requires,
    pack=_pack,
    multiples={"c": BLOCK},
    parallel=("c", "h", "w", "n"),
    cycles=_average_cycles,
    values=_average_values,
    source=(LANES,),
    call=WINDOWS_AT_CALL.format(
        arguments="(tw_xp_counts)${counts}, (const uint8_t *)${X}, ${R}, (uint8_t *)${Y}",
    ),
    includes=("<stdint.h>", "<string.h>"),
)

MAX = Kernel(
    name="siracusa.max_pool",
    op="MaxPool",
    target="siracusa",
    match=_match,
    access=lambda site: _map(site, ""),
    requires=_requires,
    multiples={"c": BLOCK},
    parallel=("h", "w", "c", "n"),
    cycles=_max_cycles,
    values=_max_values,
    source=(c_template("tw_xp_max_pool_${type}", "max.c.mako"),),
    call=WINDOWS_CALL.format(arguments="(const uint8_t *)${X}, (uint8_t *)${Y}"),
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (AVERAGE, MAX)
