"""Knows how the cluster computes depthwise convolutions: four channels of a word, four taps of one channel in a word.
Does not know other convolutions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, channels_last
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, image_fields, tap_fields, windows_of
from tilewright.api.operator import Access, parse_map
from tilewright_siracusa.kernels.costs import lanes_cycles, layer_edges, trips
from tilewright_siracusa.kernels.layers import BLOCK, ROUNDINGS, ProductLayer, bias_and_scale, layer_of
from tilewright_siracusa.kernels.limits import limit_of, limits
from tilewright_siracusa.kernels.products import described
from tilewright_siracusa.kernels.sources import LANES
from tilewright_siracusa.kernels.windows import WINDOWS_CALL, pad_word

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

TAPS = 4  # in a word


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


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: ProductLayer = site.analysis
    rows, columns = layer.windows.kernel
    wide = align_up(columns, TAPS)
    filled = np.zeros((layer.blocks * BLOCK, rows, wide), np.int8)
    filled[: layer.outputs, :, :columns] = layer.weights[..., 0]
    # [block, channel, row, group, tap] -> [block, group, row, channel, tap]
    words = filled.reshape(layer.blocks, BLOCK, rows, wide // TAPS, TAPS).transpose(0, 3, 2, 1, 4)
    return {"W": np.ascontiguousarray(words).reshape(layer.blocks, -1), "P": bias_and_scale(layer)}


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


def _cycles(tile: TileShape) -> float:
    layer: ProductLayer = tile.site.analysis
    edges = layer_edges(tile.site, layer.windows)
    return lanes_cycles(trips(tile, "n", "h"), trips(tile, "w"), trips(tile, "o"), layer, edges, pair_taps(layer))


def fetched_calls(tile: TileShape) -> float:
    """How often the code of a column is come to anew: for every four channels once, and for what is outside columns."""
    edges = layer_edges(tile.site, tile.site.analysis.windows)
    return (1 + trips(tile, "w") * edges.columns) * ceil_div(trips(tile, "o"), BLOCK)


def _values(call: Call) -> Mapping[str, object]:
    layer: ProductLayer = call.site.analysis
    kind = "us" if call.operands["X"].dtype is DType.U8 else "ss"
    limit, pair = limit_of(layer.requant, layer.reach), pair_taps(layer)
    taps = layer.windows.kernel[1]
    return {
        "function": f"tw_xp_depthwise_{kind}_{limit}_{taps}_{pair}{int(layer.padded)}",
        "kind": kind,
        "limit": limit,
        "weighted": True,
        "taps": taps,
        "pair": pair,
        "edges": layer.padded,
        "fields": {
            **image_fields(call),
            **tap_fields(layer.windows),
            "padding": pad_word(layer.pad),
            "to": limits(layer.requant, limit),
        },
    }


DEPTHWISE = Kernel(
    name="siracusa.qconv_depthwise",
    op="QConv",
    target="siracusa",
    roundings=ROUNDINGS,
    match=_match,
    access=_access,
    requires=_requires,
    pack=_pack,
    multiples={"o": BLOCK},
    parallel=("o", "h", "w", "n"),
    cycles=_cycles,
    describe=lambda site: described(site.analysis),
    values=_values,
    source=(LANES,),
    call=WINDOWS_CALL.format(arguments="(const uint8_t *)${X}, (const uint8_t *)${W}, ${P}, (uint8_t *)${Y}"),
    includes=("<stdint.h>", "<string.h>"),
)

KERNELS = (DEPTHWISE,)
