"""Knows how the DSP extension computes convolutions of small groups: four outputs of four channels of a tap at a time.
Does not know depthwise convolutions, nor groups of many channels, whose values are worth a copy (`dsp_products`).

Where the taps of a pixel are is a table of offsets, as of depthwise ones (`dsp_taps`): nothing is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, TileShape, windows_of
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise
from tilewright_cortexm.kernels.dsp_blocks import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described, requantiser
from tilewright_cortexm.kernels.dsp_taps import ADDRESS_BYTES, TAPS
from tilewright_cortexm.kernels.products import Products, products
from tilewright_cortexm.kernels.row_tiles import image_layouts, row_fields, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_FOUR = 4  # channels in a word, outputs that are computed together
_UNROLLS = (5, 4, 3, 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """A layer, and its windows over the image, every channel of x on its own."""

    layer: Products
    image: Depthwise

    @property
    def form(self) -> AnyForm:
        """How a layer that was taken is requantised."""
        result = any_form(self.layer.requant, self.layer.form, self.layer.bounds)
        if isinstance(result, str):
            raise TypeError(result)
        return result

    @property
    def blocks(self) -> list[range]:
        """Outputs that are computed together."""
        return [range(first, first + _FOUR) for first in range(0, self.layer.rows.y_step, _FOUR)]


def _match(site: Site) -> Groups | str:
    layer = products(site)
    if isinstance(layer, str):
        return layer
    rows = layer.rows
    if rows.groups == 1 or rows.channels % _FOUR or rows.outputs % _FOUR:
        sizes = f"{rows.groups} groups of {rows.channels} channels and {rows.outputs} outputs"
        return f"has {sizes}; several groups of fours are taken"
    form = any_form(layer.requant, layer.form, layer.bounds)
    if isinstance(form, str):
        return form
    groups = Groups(layer=layer, image=_image(site, layer))
    most = _scratch(groups)
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else groups


def _image(site: Site, layer: Products) -> Depthwise:
    rows, windows = layer.rows, windows_of(site.node).two_axes
    return Depthwise(
        windows=windows,
        batches=rows.batches,
        channels=rows.x_step,
        width=rows.width,
        height=rows.height,
        out_width=rows.out_width,
        out_height=rows.pixels // rows.out_width,
        weights=layer.weights,
        bias=layer.bias,
        pad=layer.pad,
        requant=layer.requant,
        form=layer.form,
        bounds=layer.bounds,
    )


def _scratch(groups: Groups) -> int:
    return 2 * groups.image.taps * ADDRESS_BYTES + groups.image.channels


def _pack(site: Matched) -> Mapping[str, Array]:
    groups: Groups = site.analysis
    weights = groups.layer.weights.astype(np.int8)  # [outputs, taps, channels of a group]
    outputs, taps, channels = weights.shape
    words = weights.reshape(outputs // _FOUR, _FOUR, taps, channels // _FOUR, _FOUR).transpose(0, 3, 2, 1, 4)
    bias = groups.layer.bias
    parts = [part for block in groups.blocks for part in (bias[block.start : block.stop], groups.form.of_block(block))]
    return {"W": words.reshape(-1).view(np.uint32), "P": np.concatenate(parts).astype(np.int32)}


def _access(site: Matched) -> Access:
    groups: Groups = site.analysis
    constants = {
        "W": (groups.layer.weights.size // _FOUR,),
        "P": ((1 + groups.form.stored) * groups.layer.rows.y_step,),
    }
    return groups.image.access(site, constants)


def _unroll(taps: int) -> int:
    return next(count for count in _UNROLLS if taps % count == 0)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    groups: Groups = tile.site.analysis
    image, taps = groups.image, groups.image.taps
    words = groups.layer.rows.channels // _FOUR
    block = words * (taps * (24 + 4 / _unroll(taps)) + 6) + 46 + _FOUR * groups.form.more
    pixels = tile_columns(tile) * tile_rows(tile)
    edges = pixels / (image.out_width * image.out_height) * image.edges * (5 * taps + 60)
    return image.batches * (pixels * (len(groups.blocks) * block + 45) + edges)


def _describe(site: Matched) -> Mapping[str, object]:
    groups: Groups = site.analysis
    return {"accumulator_bits": 32, "requant": described(groups.form, groups.layer.form)}


def _values(call: Call) -> Mapping[str, object]:
    groups: Groups = call.site.analysis
    form, requant, rows, image = groups.form, groups.layer.requant, groups.layer.rows, groups.image
    widen = call.site.input(0).dtype.value
    shape = f"{image.taps}_{rows.channels}_{rows.outputs}"
    pixel = f"tw_dsp_groups_{widen}_{shape}_{form.label(requant)}"
    y_row = row_fields(call).get("y_row", rows.y_row)
    return {
        "function": f"tw_dsp_groups_{image.taps}_{rows.y_step}",
        "outputs": rows.y_step,
        "pixel": pixel,
        "widen": widen,
        "taps": image.taps,
        "unroll": _unroll(image.taps),
        "group_channels": rows.channels,
        "group_outputs": rows.outputs,
        **form.names(requant),
        "fields": {**image.fields(call), "y_row": y_row},
        "numbers": f"{form.above}, {requant.zero_point}, {pixel}",
        **image.call_values(),
        "y_bytes": rows.pixels * rows.y_step,
    }


_TAP = c_template("TW_DSP_GROUP_TAP_${widen.upper()}", "dsp_groups_tap.c.mako")
_PIXEL = c_template("${pixel}", "dsp_groups_pixel.c.mako", _TAP)

KERNELS = (
    Kernel(
        name="cortex-m.dsp.qconv_groups",
        op="QConv",
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*requantiser(values), _PIXEL, TAPS),
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    ),
)
