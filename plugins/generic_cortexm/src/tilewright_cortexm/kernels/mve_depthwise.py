"""Knows how Helium computes depthwise convolutions: eight channels of one tap at a time, products of 32 bits.
Does not know convolutions that mix channels.

Where the taps of a pixel are is a table of offsets; those outside point to a pixel of padding in scratch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise, depthwise, requires
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form
from tilewright_cortexm.kernels.mve_rows import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.row_tiles import tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CHANNELS = 8
_UNROLLS = (9, 8, 7, 6, 5, 4, 3, 2, 1)
_ADDRESS_BYTES = 8  # on the widest machine that compiles this, for tests; on Arm half of it is used


def _scratch(layer: Depthwise) -> int:
    return 2 * layer.taps * _ADDRESS_BYTES + layer.channels


def _form(layer: Depthwise) -> MveForm:
    return taken_form(layer.requant, layer.bounds)


def _match(site: Site) -> Depthwise | str:
    layer = depthwise(site)
    form = layer if isinstance(layer, str) else mve_form(layer.requant, layer.bounds)
    if isinstance(layer, str) or isinstance(form, str):
        return form if isinstance(form, str) else layer
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return layer


def _padded(layer: Depthwise) -> int:
    """Channels, up to the next multiple of eight."""
    return align_up(layer.channels, CHANNELS)


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    weights = layer.weights.reshape(layer.channels, -1).astype(np.int8)
    groups = [weights[first : first + CHANNELS] for first in range(0, layer.channels, CHANNELS)]
    rows = [layer.bias, *_form(layer).words]
    parameters = np.zeros((len(rows), _padded(layer)), np.int32)
    parameters[:, : layer.channels] = np.stack(rows)
    by_group = parameters.reshape(len(rows), -1, CHANNELS // 2, 2)  # bias or word, group, pair, even or odd
    return {
        "W": np.concatenate([group.T.reshape(-1) for group in groups]),
        "P": by_group.transpose(1, 0, 3, 2).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    constants = {"W": (layer.channels * layer.taps,), "P": ((1 + _form(layer).stored) * _padded(layer),)}
    return layer.access(site, constants)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Depthwise = tile.site.analysis
    each = ceil_div(layer.channels, CHANNELS) * ((8 + 1 / _unroll(layer.taps)) * layer.taps + 24) + 60
    pixels = tile_columns(tile) * tile_rows(tile)
    edges = pixels / (layer.out_width * layer.out_height) * layer.edges * (5 * layer.taps + 60)
    return layer.batches * (pixels * each + edges)


def _unroll(taps: int) -> int:
    """Taps that are written out in the inner loop."""
    return next(count for count in _UNROLLS if taps % count == 0)


def _blocks(layer: Depthwise) -> list[tuple[int, int, int]]:
    """First channel, groups, channels of a group."""
    groups, rest = divmod(layer.channels, CHANNELS)
    found = [(0, groups, CHANNELS)] if groups else []
    return found + ([(groups * CHANNELS, 1, rest)] if rest else [])


def _describe(site: Matched) -> Mapping[str, object]:
    return {"accumulator_bits": 32, "requant": _form(site.analysis).described()}


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    form, taps = _form(layer), layer.taps
    widen = "u16" if call.site.input(0).dtype is DType.U8 else "s16"
    kind = f"{widen}_{taps}_{form.label}"
    shape = "_".join(str(part) for block in _blocks(layer) for part in block)
    return {
        "function": f"tw_mve_depthwise_{kind}_{shape}",
        "widen": widen,
        "taps": taps,
        "unroll": _unroll(taps),
        "trips": taps // _unroll(taps),
        **form.names(),
        "needs": form.needs(),
        "blocks": [_block(f"tw_mve_pixel_{size}_{kind}", widen, size) for _, _, size in _blocks(layer)],
        "runs": [(first, count) for first, count, _ in _blocks(layer)],
        "fields": layer.fields(call),
        "numbers": layer.requant.zero_point,
        **layer.call_values(),
    }


def _block(name: str, widen: str, channels: int) -> dict[str, object]:
    some = channels < CHANNELS
    return {"block": name, "of": f"PIXEL_{widen.upper()}{'_SOME' if some else ''}", "channels": channels, "some": some}


_PIXEL_PARTS = (
    c_template("TW_MVE_${of}", "mve_pixel_text.c.mako"),
    c_template("TW_MVE_${of}_END_${end}", "mve_pixel_end.c.mako"),
    c_template("tw_mve_pixel_${widen}${suffix}", "mve_pixel_sums.c.mako"),
)
_PIXEL = c_template("${block}", "mve_pixel.c.mako", *_PIXEL_PARTS)
_DEPTHWISE = c_template("${function}", "mve_depthwise.c.mako")

KERNELS = (
    Kernel(
        name="cortex-m.mve.depthwise",
        op="QConv",
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=requires,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*values["needs"], *each_of(_PIXEL, values["blocks"]), _DEPTHWISE),
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    ),
)
