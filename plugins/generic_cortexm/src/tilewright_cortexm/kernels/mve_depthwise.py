"""Knows how Helium computes depthwise convolutions: eight channels of one tap at a time, products of 32 bits.
Does not know convolutions that mix channels.

Where the taps of a pixel are is a table of offsets; those outside point to a pixel of padding in scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise, depthwise
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form
from tilewright_cortexm.kernels.mve_rows import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.row_tiles import image_layouts, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template, each_of
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

CHANNELS = 8
_SEVERAL = (2, 4, 8)  # filters of a channel that a second kernel takes
_UNROLLS = (9, 8, 7, 6, 5, 4, 3, 2, 1)
ADDRESS_BYTES = 8  # on the widest machine that compiles this, for tests; on Arm half of it is used


def _scratch(layer: Depthwise) -> int:
    return 2 * layer.taps * ADDRESS_BYTES + layer.x_channels


def _form(layer: Depthwise) -> MveForm:
    return taken_form(layer.requant, layer.bounds)


def _match(site: Site) -> Depthwise | str:
    return _taken(depthwise(site))


def _taken(layer: Depthwise | str) -> Depthwise | str:
    form = layer if isinstance(layer, str) else mve_form(layer.requant, layer.bounds)
    if isinstance(layer, str) or isinstance(form, str):
        return form if isinstance(form, str) else layer
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return layer


def padded_channels(layer: Depthwise) -> int:
    """Channels, up to the next multiple of eight."""
    return align_up(layer.channels, CHANNELS)


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    return packed_groups(layer, [layer.bias, *_form(layer).words])


def packed_groups(layer: Depthwise, rows: Sequence[Array]) -> Mapping[str, Array]:
    """Eight channels of every tap in turn; and of each eight the even and the odd ones of each of `rows`."""
    weights = layer.weights.reshape(layer.channels, -1).astype(np.int8)
    groups = [weights[first : first + CHANNELS] for first in range(0, layer.channels, CHANNELS)]
    parameters = np.zeros((len(rows), padded_channels(layer)), np.int32)
    parameters[:, : layer.channels] = np.stack(rows)
    by_group = parameters.reshape(len(rows), -1, CHANNELS // 2, 2)  # bias or word, group, pair, even or odd
    return {
        "W": np.concatenate([group.T.reshape(-1) for group in groups]),
        "P": by_group.transpose(1, 0, 3, 2).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    constants = {"W": (layer.channels * layer.taps,), "P": ((1 + _form(layer).stored) * padded_channels(layer),)}
    return layer.access(site, constants)


def _instructions(tile: TileShape) -> float:
    """Executed instructions. Of one filter a channel, what the fitted table corrects."""
    single = tile.site.analysis.multiplier == 1
    return depthwise_instructions(tile, 24, 60, 60) if single else depthwise_instructions(tile)


def depthwise_instructions(tile: TileShape, group: int = 20, pixel: int = 26, edge: int = 40) -> float:
    """Executed instructions, of which so many are beside taps: of eight channels, of a pixel, of one at an edge."""
    layer: Depthwise = tile.site.analysis
    each = ceil_div(layer.channels, CHANNELS) * ((8 + 1 / unroll_of(layer.taps)) * layer.taps + group) + pixel
    pixels = tile_columns(tile) * tile_rows(tile)
    edges = pixels / (layer.out_width * layer.out_height) * layer.edges * (5 * layer.taps + edge)
    return layer.batches * (pixels * each + edges)


def unroll_of(taps: int) -> int:
    """Taps that are written out in the inner loop."""
    return next(count for count in _UNROLLS if taps % count == 0)


def groups_of(layer: Depthwise) -> list[tuple[int, int, int]]:
    """First channel, groups, channels of a group."""
    groups, rest = divmod(layer.channels, CHANNELS)
    result = [(0, groups, CHANNELS)] if groups else []
    return result + ([(groups * CHANNELS, 1, rest)] if rest else [])


def _describe(site: Matched) -> Mapping[str, object]:
    return {"accumulator_bits": 32, "requant": _form(site.analysis).described()}


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    form, taps = _form(layer), layer.taps
    widen = "u16" if call.site.input(0).dtype is DType.U8 else "s16"
    kind = f"{widen}{layer.several}_{taps}_{form.label}"
    more: Any = {"multiplier": layer.multiplier, "several": layer.several}
    shape = "_".join(str(part) for block in groups_of(layer) for part in block)
    return {
        "function": f"tw_mve_depthwise_{kind}_{shape}",
        "widen": widen,
        "taps": taps,
        "value_bytes": 1,
        "multiplier": layer.multiplier,
        "unroll": unroll_of(taps),
        "trips": taps // unroll_of(taps),
        **form.names(),
        "needs": form.needs(),
        "blocks": [pixel_block(f"tw_mve_pixel_{size}_{kind}", widen, size, **more) for _, _, size in groups_of(layer)],
        "runs": [(first, count) for first, count, _ in groups_of(layer)],
        "fields": layer.fields(call),
        "numbers": layer.requant.zero_point,
        **layer.call_values(),
    }


def pixel_block(
    name: str, widen: str, channels: int, *, words: bool = False, multiplier: int = 1, several: str = ""
) -> dict[str, object]:
    """What a pixel's templates are given of its shape."""
    some = channels < CHANNELS
    return {
        "block": name,
        "multiplier": multiplier,
        "several": several,
        "of": f"PIXEL_{widen.upper()}{several.upper()}{'_SOME' if some else ''}",
        "channels": channels,
        "some": some,
        "words": words,
    }


PIXEL_PARTS = (
    c_template("TW_MVE_${of}", "mve_pixel_text.c.mako"),
    c_template("TW_MVE_${of}_END_${end}", "mve_pixel_end.c.mako"),
)
_SUMS = c_template("tw_mve_pixel_${widen}${several}${suffix}", "mve_pixel_sums.c.mako")
_PIXEL = c_template("${block}", "mve_pixel.c.mako", *PIXEL_PARTS, _SUMS)
DEPTHWISE = c_template("${function}", "mve_depthwise.c.mako")


def _kernel(name: str, match: Callable[[Site], Depthwise | str]) -> Kernel:
    return Kernel(
        name=name,
        op="QConv",
        target="cortex-m",
        engine="mve",
        match=match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*values["needs"], *each_of(_PIXEL, values["blocks"]), DEPTHWISE),
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = (
    _kernel("cortex-m.mve.depthwise", _match),
    _kernel("cortex-m.mve.depthwise_several", lambda site: _taken(depthwise(site, _SEVERAL))),
)
