"""Knows how the DSP extension computes depthwise convolutions of 3x3: two neighbours of one channel in every SMLAD.
Does not know other kernel sizes (`dsp_wide_depthwise`).

Four channels, or all of a layer that has fewer, are taken apart into rows of 16-bit values, in a ring of three rows in
scratch. Of an image that is higher than it is wide, a second kernel takes columns for rows: fewer and longer ones, in
more scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, Kernel, Matched, Sharing, TileShape
from tilewright.api.operator import Access, whole
from tilewright_cortexm.kernels.depthwise import CALL, Depthwise, depthwise, turned
from tilewright_cortexm.kernels.dsp_blocks import SCRATCH_LIMIT_BYTES
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described
from tilewright_cortexm.kernels.dsp_twice import TwiceForm
from tilewright_cortexm.kernels.row_tiles import image_layouts, in_stripe, tile_columns, tile_rows
from tilewright_cortexm.kernels.sources import c_fragment, c_template
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_TAPS_WORDS = 40
_PLANES = 4


def _together(layer: Depthwise) -> int:
    """Channels at a time."""
    return min(_PLANES, layer.channels)


def _words(layer: Depthwise) -> int:
    """Of one row of one channel: what all windows read, in pairs, and where the row itself ends."""
    left, stride = layer.windows.before[1], layer.windows.strides[1]
    pairs = ceil_div(layer.out_width, 2) if stride == 1 else layer.out_width
    return max(pairs + 1, (left + layer.width + 1) // 2)


def _stripe_words(layer: Depthwise, columns: str) -> str:
    """The same, as C, of some columns of a row: of what these read, and no more."""
    return f"(({columns}) + 3) / 2" if layer.windows.strides[1] == 1 else f"({columns}) + 1"


def _scratch(layer: Depthwise) -> int:
    return _scratch_of(_words(layer))


def _scratch_of(words: int) -> int:
    return 4 * (_TAPS_WORDS + 3 * _PLANES * words)


def _tile_scratch(tile: TileShape) -> int:
    layer: Depthwise = tile.site.analysis
    columns, pairs = _extents(tile)[1], layer.windows.strides[1] == 1
    some = columns < layer.out_width
    return _scratch_of((columns + 3) // 2 if pairs else columns + 1) if some else _scratch(layer)


def _extents(tile: TileShape) -> tuple[int, int]:
    """Rows of the result, as the layer has them, and columns."""
    rows, columns = tile_rows(tile), tile_columns(tile)
    return (columns, rows) if tile.site.analysis.turned else (rows, columns)


def depthwise_form(layer: Depthwise) -> AnyForm | str:
    """How the sums of a layer are requantised, or why they are not."""
    return any_form(layer.requant, layer.form, layer.bounds)


def _form(layer: Depthwise) -> AnyForm:
    """Of a layer that was taken."""
    result = depthwise_form(layer)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _match(site: Site) -> Depthwise | str:
    layer = depthwise(site)
    return layer if isinstance(layer, str) else _checked(layer)


def _match_turned(site: Site) -> Depthwise | str:
    layer = depthwise(site)
    if isinstance(layer, str):
        return layer
    if layer.out_height <= layer.out_width:
        size = f"{layer.out_height}x{layer.out_width}"
        return f"the result is {size}; columns are computed like rows where they are longer than these"
    return _checked(turned(layer))


def _checked(layer: Depthwise) -> Depthwise | str:
    windows, form = layer.windows, depthwise_form(layer)
    if isinstance(form, str):
        return form
    if windows.kernel != (3, 3) or windows.dilations != (1, 1):
        return f"the kernel is {windows.kernel} with dilations {windows.dilations}; this one computes 3x3 without"
    if windows.strides[1] not in (1, 2):
        across = "rows" if layer.turned else "columns"
        return f"the stride between {across} is {windows.strides[1]}; 1 and 2 are supported"
    if _scratch(layer) > SCRATCH_LIMIT_BYTES:
        return f"needs {_scratch(layer)} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return layer


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Depthwise = site.analysis
    form = _form(layer)
    parameters = [(bias, *form.of_block(range(c, c + 1))) for c, bias in enumerate(layer.bias)]
    return {
        "W": layer.weights.astype(np.int8).view(np.uint8).reshape(-1),
        "P": np.asarray(parameters, np.int64).astype(np.int32).reshape(-1),
    }


def _access(site: Matched) -> Access:
    layer: Depthwise = site.analysis
    constants = {"W": (9 * layer.channels,), "P": ((1 + _form(layer).stored) * layer.channels,)}
    if layer.turned:
        return whole({"X": site.input(0).shape, **constants}, {"Y": site.output.shape})
    return layer.access(site, constants)


def _in_place(site: Matched) -> tuple[tuple[str, str], ...]:
    """Rows are in the ring before results take their bytes."""
    layer: Depthwise = site.analysis
    stays = (layer.out_height, layer.out_width) == (layer.height, layer.width) and layer.windows.before[0] < 3
    return (("X", "Y"),) if stays else ()


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Depthwise = tile.site.analysis
    together = _together(layer)
    groups = ceil_div(layer.channels, together)
    out, columns = _extents(tile)
    read = (out - 1) * layer.windows.strides[0] + 3
    rows = min(layer.height, read)
    padding = (read - rows) * 16 * _words(layer)
    pixel = 11 if together == _PLANES else 17  # whose channels are one word, or bytes
    taken_apart = rows * (pixel * min(layer.width, (columns - 1) * layer.windows.strides[1] + 3) + 40)
    slow = _form(layer).more
    pairs = layer.windows.strides[1] == 1
    each = ceil_div(columns, 2) * (29 + 2 * slow) if pairs else columns * (18 + slow)
    computed = out * (layer.channels * (each + 38) + 60 * groups)
    return layer.batches * (groups * (taken_apart + padding + 300) + computed)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: Depthwise = site.analysis
    return {"accumulator_bits": 32, "requant": described(_form(layer), layer.form)}


def _values(call: Call) -> Mapping[str, object]:
    layer: Depthwise = call.site.analysis
    form, requant = _form(layer), layer.requant
    widen, stride = call.site.input(0).dtype.value, layer.windows.strides[1]
    label, stripe = form.label(requant), in_stripe(call)
    rows = f"tw_dsp_rows_s{stride}_{label}"
    words = _stripe_words(layer, call.operands["Y"].extents[3]) if stripe else _words(layer)
    of_planes = f"_of{_together(layer)}" if _together(layer) < _PLANES else ""
    return {
        "function": f"tw_dsp_depthwise_{widen}_s{stride}{'_twice' if isinstance(form, TwiceForm) else ''}{of_planes}",
        "together": _together(layer),
        "rows": rows,
        "widen": widen,
        "planes": f"tw_dsp_planes_{widen}{of_planes}",
        "slots": 3,
        "stride": stride,
        **form.names(requant),
        "fields": layer.fields(call),
        "numbers": f"{layer.steps[0][1]}, {layer.steps[1][1]}, {words}, {form.above}, {requant.zero_point}, {rows}",
        **layer.call_values(),
    }


SPLIT = c_template("${planes}", "dsp_planes.c.mako")  # a row of four channels becomes rows of each
_ROW_PARTS = (
    c_template("TW_DSP_ROW_S${stride}_PRODUCTS", "dsp_row_products.c.mako"),
    c_template("TW_DSP_ROW_S${stride}_${end}", "dsp_row_text.c.mako"),
    c_template("tw_dsp_row_s${stride}${'_twice' if twice else ''}", "dsp_row_sums.c.mako"),
)
_TWICE = c_fragment("dsp_row_twice.h")
_ROW = c_template("${rows}", "dsp_row.c.mako", *_ROW_PARTS)
_DEPTHWISE = c_template("${function}", "dsp_depthwise.c.mako")


def _kernel(name: str, match: Callable[[Site], Depthwise | str]) -> Kernel:
    return Kernel(
        name=name,
        op="QConv",
        target="cortex-m",
        engine="dsp",
        match=match,
        access=_access,
        requires=image_layouts,
        pack=_pack,
        scratch_bytes=_tile_scratch,
        in_place=_in_place,
        instructions=_instructions,
        describe=_describe,
        values=_values,
        source=lambda values: (*([_TWICE] if values["twice"] else []), SPLIT, _ROW, _DEPTHWISE),
        call=CALL,
        sharing=Sharing(),
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
    )


KERNELS = (
    _kernel("cortex-m.dsp.depthwise3x3", _match),
    _kernel("cortex-m.dsp.depthwise3x3_columns", _match_turned),
)
