"""Knows how the DSP extension computes depthwise convolutions of 16-bit values with 8-bit weights: four channels of a
pixel, two of them in every word that is read. Does not know layers of bytes (`dsp_depthwise`).

The taps of four channels are widened into scratch once for all pixels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, centred_weights, sum_bounds, windows_of
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise
from tilewright_cortexm.kernels.dsp_words import Words, parameters, refused_numbers, refused_rounding, wide_reason
from tilewright_cortexm.kernels.products import Rows
from tilewright_cortexm.kernels.row_tiles import image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_PLANES = 4
_MOST_TAPS = 49  # that are written out
_LARGEST_OFFSET = 4095  # of a load
_MOST_SIDES = 4  # ranges of columns at edges that are written out
_IN_TURN = (0, 2, 1, 3)
_NO_ROWS = Rows(
    batches=1, width=1, height=1, channels=1, out_width=1, pixels=1, outputs=1, row_taps=1, column_runs=1, run_taps=1
)


def _match(site: Site) -> Depthwise | str:
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    reason = wide_reason(site)
    if reason:
        return reason
    layer = words_layer(site)
    taps = layer.weights[0].size
    if layer.channels < _PLANES or taps > _MOST_TAPS:
        return f"has {layer.channels} channels and {taps} taps; four channels, and up to {_MOST_TAPS} taps, are taken"
    words = products_of(layer)
    if words.wide:
        return "the accumulator needs 64 bits; this kernel has 32"
    return refused_numbers(layer.weights, layer.pad) or refused_rounding(words) or layer


def words_layer(site: Site) -> Depthwise:
    """The layer, zero points inside."""
    windows = windows_of(site.node).two_axes
    batches, channels, *spatial = site.input(0).shape
    zero = site.node.integer("x_zero_point")
    weights = centred_weights(site).reshape(channels, *windows.kernel)
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(channels, np.int64)
    out = site.output.shape[2:]
    return Depthwise(
        windows=windows,
        batches=batches,
        channels=channels,
        width=spatial[-1],
        height=spatial[0] if len(spatial) > 1 else 1,
        out_width=out[-1],
        out_height=out[0] if len(out) > 1 else 1,
        weights=weights,
        bias=bias - zero * weights.sum(axis=(1, 2)),
        pad=site.node.integer("pad_value", zero),
        requant=site.node.requant(),
        form=None,
        bounds=sum_bounds(site),
    )


def products_of(layer: Depthwise) -> Words:
    """What requantises it, as of products."""
    return Words(
        rows=_NO_ROWS, weights=layer.weights, bias=layer.bias, pad=layer.pad, requant=layer.requant, bounds=layer.bounds
    )


def _groups(layer: Depthwise) -> list[int]:
    """The first channel of each four; the last ones again where channels do not come out even."""
    return [min(first, layer.channels - _PLANES) for first in range(0, layer.channels, _PLANES)]


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    taps = layer.weights.reshape(layer.channels, -1).astype(np.int8)
    words = [taps[first : first + _PLANES].T[:, _IN_TURN].reshape(-1) for first in _groups(layer)]
    return {"W": np.concatenate(words).view(np.uint32), "P": parameters(products_of(layer)).reshape(-1)}


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    words = len(_groups(layer)) * layer.weights[0].size
    return layer.access(site, {"W": (words,), "P": (layer.channels * products_of(layer).stored,)})


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Depthwise = tile.site.analysis
    taps, pixels = int(layer.weights[0].size), tile_rows(tile) * tile_columns(tile)
    edges = min(pixels, layer.edges)
    each = 7 * taps + (29 if products_of(layer).shifted else 60)
    slow = edges * (5.4 * taps + 60)
    return layer.batches * ceil_div(layer.channels, _PLANES) * (pixels * each + slow + 6 * taps)


def describe_words(site: Matched) -> Mapping[str, object]:
    layer: Depthwise = site.analysis
    facts: dict[str, object] = {"channels": layer.channels, "rounding": layer.requant.rounding.name}
    return {"accumulator_bits": 32, "requant": facts}


def _sides(layer: Depthwise) -> list[tuple[int, int]]:
    """The ranges of columns whose taps are inside x, of pixels at the edges; none where there are many."""
    taps, stride = layer.windows.kernel[1], layer.windows.strides[1]
    dilation, clipped = layer.windows.dilations[1], layer.windows.before[0] > 0 or layer.windows.after[0] > 0
    result = set[tuple[int, int]]()
    for column in range(layer.out_width):
        start = column * stride - layer.windows.before[1]
        inside = [tap for tap in range(taps) if 0 <= start + tap * dilation < layer.width]
        if inside and (clipped or len(inside) < taps):
            result.add((inside[0], inside[-1] + 1))
    return sorted(result) if len(result) <= _MOST_SIDES else []


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    words, requant = products_of(layer), layer.requant
    rows, columns = layer.windows.kernel
    step = layer.windows.dilations[1] * layer.channels
    sides = "".join(f"_{first}{last}" for first, last in _sides(layer))
    form = f"{'shifted' if words.shifted else 'exact'}{'_padded' * (layer.pad != 0)}"
    kind = f"{form}_{rows}x{columns}_{step}_{requant.low}_{requant.high}{sides}"
    return {
        "function": f"tw_dsp_words_depthwise_{kind}".replace("-", "m"),
        "rows": rows,
        "columns": columns,
        "step": step,
        "shifted": words.shifted,
        "low": requant.low,
        "high": requant.high,
        "stored": words.stored,
        "padded": layer.pad != 0,
        "sides": _sides(layer),
        "written": 2 * (columns - 1) * step + 4 <= _LARGEST_OFFSET,
        "fields": {**layer.fields(call), "pad": layer.pad},
        "numbers": requant.zero_point,
        **layer.call_values(),
    }


KERNELS = (
    Kernel(
        name="cortex-m.dsp.depthwise_words",
        op="QConv",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: 8 * tile.site.analysis.weights[0].size,
        instructions=_instructions,
        describe=describe_words,
        values=_values,
        source=(c_template("${function}", "dsp_words_depthwise.c.mako"),),
        call=CALL.replace("(const uint8_t *)", "")
        .replace("(uint8_t *)", "")
        .replace("(void *)${scratch}", "(uint32_t *)(void *)${scratch}"),
        includes=("<stdint.h>", "<string.h>"),
        roundings=("onnx", "multiply-shift"),
    ),
)
