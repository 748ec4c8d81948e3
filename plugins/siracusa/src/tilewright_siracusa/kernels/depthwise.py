"""Knows how the cluster computes depthwise convolutions: four channels of a word, four taps of one channel in a word.
Does not know other convolutions.

Small windows are read from strips: what a column of them reads is turned once, in scratch of the core, padding in it,
and every channel goes down its column with its weights in registers. Other windows are turned one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, image_fields, tap_fields, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import WORD, lanes_cycles, layer_edges, trips
from tilewright_siracusa.kernels.layers import BLOCK, ROUNDINGS, ProductLayer, bias_and_scale, layer_of
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.products import described
from tilewright_siracusa.kernels.sources import LANES, STRIPS
from tilewright_siracusa.kernels.strip_costs import strip_cycles
from tilewright_siracusa.kernels.windows import WINDOWS_AT_CALL, pad_word

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

TAPS = 4  # in a word
MOST_ROWS = 4  # of taps, in windows that are read from strips
STRIP_ROWS = 30  # of a strip
STRIP_TAPS = 8  # of a row of a strip


def _match_strips(site: Site) -> ProductLayer | str:
    layer = _match(site)
    return layer if isinstance(layer, str) or has_strips(layer) else "has windows that are not read from strips"


def _match_taps(site: Site) -> ProductLayer | str:
    layer = _match(site)
    return "has windows that are read from strips" if not isinstance(layer, str) and has_strips(layer) else layer


def _match(site: Site) -> ProductLayer | str:
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    return layer_of(site)


def tap_words(layer: ProductLayer) -> int:
    """Words of one filter: every row is filled up."""
    rows, columns = layer.windows.kernel
    return rows * ceil_div(columns, TAPS)


def pair_taps(layer: ProductLayer) -> int:
    """Taps that two neighbouring windows read; 0 where that are more than a word has."""
    windows = layer.windows
    taps = windows.kernel[1] + windows.strides[1]
    return taps if windows.dilations[1] == 1 and taps <= TAPS else 0


def has_strips(layer: ProductLayer) -> bool:
    """Whether windows are read from strips: their weights fit in registers, and windows below each other share rows."""
    windows = layer.windows
    rows, columns = windows.kernel
    return 1 < rows <= MOST_ROWS and columns <= TAPS and windows.dilations[0] == 1 and windows.strides[0] <= rows


def strip_windows(layer: ProductLayer) -> tuple[int, int]:
    """How many windows below each other, and beside each other, a strip has at most."""
    windows = layer.windows
    rows, columns = windows.kernel
    beside = (STRIP_TAPS - columns) // windows.strides[1] + 1 if windows.dilations[1] == 1 else 1
    return (STRIP_ROWS - rows) // windows.strides[0] + 1, beside


def _words(layer: ProductLayer) -> Array:
    """Weights as [block, channel, row, group of taps, tap]."""
    rows, columns = layer.windows.kernel
    wide = align_up(columns, TAPS)
    filled = np.zeros((layer.blocks * BLOCK, rows, wide), np.int8)
    filled[: layer.outputs, :, :columns] = layer.weights[..., 0]
    return filled.reshape(layer.blocks, BLOCK, rows, wide // TAPS, TAPS)


def _pack_strips(site: Matched) -> Mapping[str, Array]:
    return {"W": _words(site.analysis).reshape(site.analysis.blocks, -1), "P": bias_and_scale(site.analysis)}


def _pack_taps(site: Matched) -> Mapping[str, Array]:
    words = np.ascontiguousarray(_words(site.analysis).transpose(0, 3, 2, 1, 4))  # channels of a group of taps together
    return {"W": words.reshape(site.analysis.blocks, -1), "P": bias_and_scale(site.analysis)}


def _access(site: Matched) -> Access:
    windows, layer = windows_of(site.node), site.analysis
    outs, taps = windows.output_loops, windows.tap_loops
    text = (
        f"n o {' '.join(outs)} {' '.join(f'{tap}<k{tap}' for tap in taps)} : "
        f"X[n,o,{','.join(windows.map_indices())}] W[o//{BLOCK},:] P[o//{BLOCK},:] -> Y[n,o,{','.join(outs)}]"
    )
    shapes = {
        "X": site.input(0).shape,
        "W": (layer.blocks, BLOCK * TAPS * tap_words(layer)),
        "P": (layer.blocks, 2 * BLOCK),
        "Y": site.output.shape,
    }
    return parse_map(text).bind(shapes, windows.map_values())


def _requires(site: Site) -> Mapping[str, Layout]:
    layout = channels_last(len(site.output.shape))
    return {"X": layout, "Y": layout}


def _scratch(tile: TileShape) -> int:
    layer: ProductLayer = tile.site.analysis
    count = min(trips(tile, "h"), strip_windows(layer)[0])
    return BLOCK * STRIP_TAPS * ((count - 1) * layer.windows.strides[0] + layer.windows.kernel[0]) + WORD


def _strip_cycles(tile: TileShape) -> float:
    layer: ProductLayer = tile.site.analysis
    whole, rest = divmod(trips(tile, "o"), BLOCK)
    rows, columns, most, pair = trips(tile, "h"), trips(tile, "w"), strip_windows(layer), bool(pair_taps(layer))
    full, some = (strip_cycles(layer.windows, rows, columns, lanes, most=most, pair=pair) for lanes in (BLOCK, rest))
    return trips(tile, "n") * (whole * full + (some if rest else 0)) + 60


def _tap_cycles(tile: TileShape) -> float:
    layer: ProductLayer = tile.site.analysis
    edges = layer_edges(tile.site, layer.windows)
    return lanes_cycles(trips(tile, "n", "h"), trips(tile, "w"), trips(tile, "o"), layer, edges, pair_taps(layer))


def fetched_calls(tile: TileShape) -> float:
    """How often the code of a column is come to anew: for every four channels once, and for what is outside columns."""
    edges = layer_edges(tile.site, tile.site.analysis.windows)
    return (1 + trips(tile, "w") * edges.columns) * ceil_div(trips(tile, "o"), BLOCK)


def _strip_values(call: Call) -> Mapping[str, object]:
    layer: ProductLayer = call.site.analysis
    (rows, taps), (stride, across), (most, abreast) = layer.windows.kernel, layer.windows.strides, strip_windows(layer)
    return {
        **_values(call, f"strips_{rows}_{stride}_{taps}_{across}_{abreast}"),
        "rows": rows,
        "stride": stride,
        "across": across,
        "most": most,
        "abreast": abreast,
    }


def _tap_values(call: Call) -> Mapping[str, object]:
    layer: ProductLayer = call.site.analysis
    how = f"{layer.windows.kernel[1]}_{pair_taps(layer)}{int(layer.padded)}"
    return {**_values(call, how), "weighted": True, "edges": layer.padded}


def _values(call: Call, how: str) -> dict[str, object]:
    layer: ProductLayer = call.site.analysis
    kind = "us" if call.operands["X"].dtype is DType.U8 else "ss"
    limit = limit_of(layer.requant, layer.reach)
    return {
        "function": f"tw_xp_depthwise_{kind}_{limit}_{how}",
        "kind": kind,
        "limit": limit,
        "taps": layer.windows.kernel[1],
        "pair": pair_taps(layer),
        "fields": {
            **image_fields(call),
            **tap_fields(layer.windows),
            "padding": pad_word(layer.pad),
            "to": limits(layer.requant, limit),
        },
    }


_ARGUMENTS = "(const uint8_t *)${X}, (const uint8_t *)${W}, ${P}, (uint8_t *)${Y}"

DEPTHWISE = Kernel(
    name="siracusa.qconv_depthwise",
    op="QConv",
    target="siracusa",
    roundings=ROUNDINGS,
    match=_match_strips,
    access=_access,
    requires=_requires,
    pack=_pack_strips,
    scratch_bytes=_scratch,
    multiples={"o": BLOCK},
    parallel=("o", "w", "h", "n"),
    cycles=_strip_cycles,
    describe=lambda site: described(site.analysis),
    values=_strip_values,
    source=(STRIPS,),
    call=WINDOWS_AT_CALL.format(arguments=_ARGUMENTS + ", ${scratch}"),
    includes=("<stdint.h>", "<string.h>"),
)

DEPTHWISE_TAPS = Kernel(
    name="siracusa.qconv_depthwise_taps",
    op="QConv",
    target="siracusa",
    roundings=ROUNDINGS,
    match=_match_taps,
    access=_access,
    requires=_requires,
    pack=_pack_taps,
    multiples={"o": BLOCK},
    parallel=("o", "h", "w", "n"),
    cycles=_tap_cycles,
    describe=lambda site: described(site.analysis),
    values=_tap_values,
    source=(LANES,),
    call=WINDOWS_AT_CALL.format(arguments=_ARGUMENTS),
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (DEPTHWISE, DEPTHWISE_TAPS)
