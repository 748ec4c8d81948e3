"""Knows how Helium computes depthwise convolutions of 16-bit values with 8-bit weights: eight channels of one tap at a
time, as those of bytes (`mve_depthwise`); the geometry is in bytes. Does not know convolutions that mix channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise
from tilewright_cortexm.kernels.dsp_words import parameters, refused_numbers, refused_rounding, wide_reason
from tilewright_cortexm.kernels.dsp_words_depthwise import describe_words, products_of, words_layer
from tilewright_cortexm.kernels.mve_depthwise import (
    ADDRESS_BYTES,
    DEPTHWISE,
    PIXEL_PARTS,
    depthwise_instructions,
    groups_of,
    packed_groups,
    padded_channels,
    pixel_block,
    unroll_of,
)
from tilewright_cortexm.kernels.mve_rows import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.row_tiles import image_layouts, row_fields
from tilewright_cortexm.kernels.sources import c_template, each_of, limits_name

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_BYTES = 2  # of a value


def _match(site: Site) -> Depthwise | str:
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    reason = wide_reason(site)
    return reason or _taken(words_layer(site))


def _taken(layer: Depthwise) -> Depthwise | str:
    """The layer, or why its numbers are none of this kernel's."""
    words = products_of(layer)
    if words.wide:
        return "the accumulator needs 64 bits; this kernel has 32"
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return refused_numbers(layer.weights, layer.pad) or refused_rounding(words) or layer


def _scratch(layer: Depthwise) -> int:
    return 2 * layer.taps * ADDRESS_BYTES + _BYTES * layer.channels


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    rows = parameters(products_of(layer)).T.copy()
    if products_of(layer).shifted:
        rows[-1] = -rows[-1]  # VSHL shifts to the left
    return packed_groups(layer, list(rows))


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    stored = products_of(layer).stored * padded_channels(layer)
    return layer.access(site, {"W": (layer.channels * layer.taps,), "P": (stored,)})


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    words, requant, taps, runs = products_of(layer), layer.requant, layer.taps, groups_of(layer)
    form = "high" if words.shifted else "float"
    kind = f"words_{taps}_{form}_{requant.low}_{requant.high}".replace("-", "m")
    shape = "_".join(str(part) for run in runs for part in run)
    blocks = [pixel_block(f"tw_mve_pixel_{size}_{kind}", "words", size, words=True) for _, _, size in runs]
    sizes = {name: _BYTES * int(str(size)) for name, size in layer.call_values().items() if name != "batches"}
    return {
        "function": f"tw_mve_depthwise_{kind}_{shape}",
        "widen": "words",
        "taps": taps,
        "value_bytes": _BYTES,
        "multiplier": 1,
        "unroll": unroll_of(taps),
        "trips": taps // unroll_of(taps),
        "kind": form,
        "suffix": f"_{form}",
        "stored": words.stored - 1,
        "away": False,
        "low": requant.low,
        "high": requant.high,
        "end": f"{form.upper()}_{limits_name(requant.low, requant.high)}",
        "blocks": blocks,
        "runs": [(first, count) for first, count, _ in runs],
        "fields": _fields(layer, call),
        "numbers": requant.zero_point,
        "batches": layer.batches,
        **sizes,
    }


def _fields(layer: Depthwise, call: Call) -> Mapping[str, object]:
    """The geometry, channels and rows in bytes."""
    some = row_fields(call)
    x_row, y_row = (some["x_row"], some["y_row"]) if some else (layer.steps[0][0], layer.steps[1][0])
    in_bytes = {"channels": layer.channels, "x_row": x_row, "y_row": y_row}
    sizes = {name: _BYTES * int(str(size)) for name, size in in_bytes.items()}
    return {**layer.fields(call), **sizes, "pad": layer.pad}


_SUMS = c_template("tw_mve_pixel_${widen}${suffix}", "mve_words_sums.c.mako")
_PIXEL = c_template("${block}", "mve_pixel.c.mako", *PIXEL_PARTS, _SUMS)

KERNELS = (
    Kernel(
        name="cortex-m.mve.depthwise_words",
        op="QConv",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=depthwise_instructions,
        describe=describe_words,
        values=_values,
        source=lambda values: (*each_of(_PIXEL, values["blocks"]), DEPTHWISE),
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=("onnx", "multiply-shift"),
    ),
)
