"""Knows how the DSP extension computes convolutions and matrix products: SMLAD on widened columns, three at a time.
Does not know depthwise convolutions. Weights of 4 bits stay so (`dsp_nibbles`).

A column is everything that one output pixel reads, as 16-bit halves in scratch. Three columns and two channels are
computed together, or one column and four channels where there are fewer pixels or too little scratch. Where it is
proved, words hold weights of two channels, and columns that are computed together lie word by word. Where not even
one column fits, it holds bytes, which are widened when they are multiplied; a kernel of its own computes any
convolution so, for where memory is short. Of a few rows of an image whose columns do
not come out even the last ones are computed in pairs; of a stripe each row ends with what is left. A product of one row
can be computed in parts, without scratch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, weight_bits
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_blocks import (
    SCRATCH_LIMIT_BYTES,
    block_channels,
    channel_blocks,
    channel_runs,
    columns_together,
    fours_of,
    is_direct,
    is_narrow,
    is_pointwise,
    of_stripe,
    pairs_among,
    pairs_of_channels,
    scratch,
    signature,
    tile_scratch,
)
from tilewright_cortexm.kernels.dsp_nibbles import refused
from tilewright_cortexm.kernels.dsp_packing import begun, block_weights, words_of_four
from tilewright_cortexm.kernels.dsp_pairs import proved
from tilewright_cortexm.kernels.dsp_requant import AnyForm, any_form, described, requantiser
from tilewright_cortexm.kernels.dsp_twice import TWICE, TwiceForm
from tilewright_cortexm.kernels.product_parts import GEMM_CALL, LOOP, accumulates, part_access, part_values, share
from tilewright_cortexm.kernels.products import (
    CALL,
    Products,
    Rows,
    call_values,
    fields,
    product_access,
    products,
    rows_of,
)
from tilewright_cortexm.kernels.row_tiles import in_stripe, product_layouts, row_fields
from tilewright_cortexm.kernels.sources import BLOCK, WIDEN, c_fragment, c_template, dsp_block, each_of
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Bytes = npt.NDArray[np.int8]

_UNROLLS = (4, 3, 2, 1)
_FOUR = 4  # values in a word
_FOUR_BITS = 4  # of a weight that shares a byte
_NEAR = 2**22  # sums of channels without weights, at most


def _form(layer: Products) -> AnyForm:
    """Channels of one block are requantised in pairs. Of a layer that `_checked` took."""
    result = _form_or_reason(layer)
    if isinstance(result, str):
        raise TypeError(result)
    return result


def _form_or_reason(layer: Products) -> AnyForm | str:
    return any_form(layer.requant, layer.form, layer.bounds, pairs_of_channels(layer.rows))


def _checked(site: Site) -> Products | str:
    layer = products(site)
    reason = layer if isinstance(layer, str) else _form_or_reason(layer)
    return reason if isinstance(reason, str) else layer


def _paired(layer: Products) -> Products:
    """The layer, with words of two channels where that is proved. Sums of channels without weights are near zero then,
    where their results stay what they are: constants that are clamped have no other reason to be large.
    """
    form, near = _form(layer), np.clip(layer.bias, -_NEAR, _NEAR)
    same = form.results(near, layer.requant) == form.results(layer.bias, layer.requant)
    moved = same & ~layer.weights.any(axis=(1, 2))
    ends = (np.where(moved, near, end) for end in (layer.bounds.lowest, layer.bounds.highest))
    lowest, highest = (tuple(map(int, end)) for end in ends)
    bounds = replace(layer.bounds, lowest=lowest, highest=highest)
    if not proved(layer.weights, bounds, pairs_of_channels(layer.rows)):
        return layer
    return replace(layer, bias=np.where(moved, near, layer.bias), paired=True)


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Products = site.analysis
    rows = layer.rows
    padded = np.zeros((rows.y_step, rows.runs, fours_of(rows) * 4), np.int8)
    padded[..., : rows.length] = layer.weights
    fours = padded.reshape(rows.y_step, -1, 4)
    form, blocks = _form(layer), channel_blocks(rows)
    biases = begun(layer)
    weights = [block_weights(layer, fours, block) for block in blocks]
    parameters = [part for block in blocks for part in (biases[block.start : block.stop], form.of_block(block))]
    return {
        "W": np.concatenate(weights).view(np.uint32),
        "P": np.concatenate(parameters).astype(np.int32),
    }


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis.rows
    words = rows.groups * words_of_four(site.analysis) * rows.runs * fours_of(rows)
    parameters = (1 + _form(site.analysis).stored) * rows.y_step
    constants = {"W": (words,), "P": (parameters,)}
    if site.analysis.nibbles:
        return product_access(site, constants, columns_together(rows))
    return part_access(site, constants, columns_together(rows), _FOUR)


def _match(site: Site) -> Products | str:
    layer = _checked(site)
    if isinstance(layer, str):
        return layer
    return _too_long(layer) or _paired(layer)


def _too_long(layer: Products) -> str | None:
    most = scratch(layer.rows, columns_together(layer.rows))
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else None


def _match_nibbles(site: Site) -> Products | str:
    """Layers whose weights the model file has in 4 bits."""
    if weight_bits(site) != _FOUR_BITS:
        return f"weights have {weight_bits(site)} bits"
    layer = _checked(site)
    if isinstance(layer, str):
        return layer
    return _too_long(layer) or refused(layer.weights, layer.bounds) or replace(layer, nibbles=True)


def _match_single(site: Site) -> Products | str:
    layer = _checked(site)
    if isinstance(layer, str):
        return layer
    if is_narrow(layer.rows):
        return "is computed one column of bytes at a time by cortex-m.dsp.qconv"
    return _paired(replace(layer, rows=replace(layer.rows, single=True)))


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Products = tile.site.analysis
    if share(tile) < 1:
        return _part_instructions(tile)
    rows, columns = rows_of(tile), columns_together(layer.rows)
    if rows.out_width < layer.rows.out_width:
        blocks = Counter(of_stripe(rows.out_width, columns) * (rows.pixels // rows.out_width))
    else:
        pairs = pairs_among(rows, rows.pixels) if rows.pixels < layer.rows.pixels else 0
        blocks = Counter({columns: ceil_div(rows.pixels - 2 * pairs, columns), 2: pairs})
    return rows.batches * sum(count * _block_instructions(layer, pixels) for pixels, count in blocks.items())


def _part_instructions(tile: TileShape) -> float:
    """Of a part: both factors are widened for every block of channels."""
    layer: Products = tile.site.analysis
    groups, each = share(tile) * fours_of(layer.rows), 4 if layer.paired else 5
    shapes = channel_runs(layer.rows)
    return sum(count * (groups * (7 + each * channels) + 16 + 8 * channels) for _, count, channels in shapes) + 30


def _block_instructions(layer: Products, pixels: int) -> float:
    """Of so many columns, and what they take to be there."""
    rows, channels = layer.rows, block_channels(layer.rows)
    groups = rows.runs * fours_of(rows)
    step = 5 + 5 * pixels if channels == 2 else 21 if is_narrow(rows) else 19
    apart = 0.0
    if layer.paired:
        step -= pixels if channels == 2 else 4
        apart = pixels * channels
    if layer.nibbles:
        step -= 1
        apart = 2.5 * pixels * channels + 2
    slow = _form(layer).more * pixels * channels
    block = groups * step + 3 * groups / _unroll(groups) + 25 + 5 * pixels * channels / 2 + apart + slow
    column = 0 if is_direct(rows) else (3 if is_narrow(rows) else 7) * groups + 10 * rows.runs + 10
    if layer.nibbles:
        column += (4 if is_narrow(rows) else 2) * groups + 12
    return len(channel_blocks(rows)) * block + rows.groups * (pixels * column + 30)


def _unroll(groups: int) -> int:
    return next(count for count in _UNROLLS if groups % count == 0)


def _describe(site: Matched) -> Mapping[str, object]:
    layer: Products = site.analysis
    rows = layer.rows
    return {
        "accumulator_bits": 32,
        "columns": columns_together(rows),
        "channels": block_channels(rows),
        "paired": layer.paired,
        **({"weight_bits": _FOUR_BITS} if layer.nibbles else {}),
        "requant": described(_form(layer), layer.form),
    }


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer: Products = site.analysis
    rows, requant, form = layer.rows, layer.requant, _form(layer)
    pixels, unroll = columns_together(rows), _unroll(rows.runs * fours_of(rows))
    kind = f"{'nibbles_' if layer.nibbles else 'paired_' if layer.paired else ''}u{unroll}_{form.label(requant)}"
    narrow, dtype = is_narrow(rows), site.input(0).dtype.value
    counts, stripe = _counts(rows, call), in_stripe(call)
    apart = (layer.paired or layer.nibbles) and pixels > 1  # columns lie word by word
    pointwise = is_pointwise(rows) and not is_direct(rows) and not stripe and not layer.nibbles
    label = (
        f"{dtype}{'_narrow' if narrow else ''}{'_direct' if is_direct(rows) else '_1x1' if pointwise else ''}_{pixels}"
    )
    some = f"_stripe{''.join(map(str, counts))}" if stripe else "_pairs" if len(counts) > 1 else ""
    return {
        "function": f"tw_dsp_products_{label}{some}_{kind}_{_sizes(rows)}",
        "widen": "bytes" if narrow else f"{dtype}{'_apart' * apart}{'_summed' * layer.nibbles}",
        "apart": apart,
        "nibbles": layer.nibbles,
        "flip": "0x80808080" if dtype == "i8" else "0",
        "group_words": 1 if narrow else 2,
        "direct": is_direct(rows),
        "pointwise": pointwise,
        "stripe": stripe,
        "blocks": {count: _block_shapes(layer, count, unroll, kind, dtype if narrow else "") for count in counts},
        "sizes": [size for _, _, size in channel_runs(rows)],
        **form.names(requant),
        "fields": _fields(layer, form, call),
        "columns": f"(uint32_t *){call.operands['scratch']}" if "scratch" in call.operands else "0",
        "x": call.operands["X" if site.node.op == "QConv" else "A"],
        "struct": "tw_dsp_conv",
        "w_step": words_of_four(layer) * rows.runs * fours_of(rows),
        "p_step": (1 + form.stored) * rows.outputs,
        **call_values(layer),
    }


def _gemm_values(call: Call) -> Mapping[str, object]:
    values, part = _values(call), part_values(call)
    if not part["part"]:
        return {**values, **part}
    layer: Products = call.site.analysis
    widen, form = call.site.input(0).dtype.value, _form(layer)
    paired = "_paired" if layer.paired else ""
    label = f"{widen}{paired}_{fours_of(layer.rows)}_{form.label(layer.requant)}_{signature(layer.rows)}"
    return {
        **values,
        **part,
        "function": f"tw_dsp_product_part_{label}",
        "widen": widen,
        "shapes": channel_runs(layer.rows),
        "paired": layer.paired,
        "depth": fours_of(layer.rows),
        "numbers": f"{form.above}, {layer.requant.zero_point}",
    }


def _sizes(rows: Rows) -> str:
    return "_".join(str(size) for _, _, size in channel_runs(rows))


def _counts(rows: Rows, call: Call) -> tuple[int, ...]:
    """How many columns the blocks of a call have, the most first. All of a stripe whose width the program has."""
    most, width = columns_together(rows), call.operands["Y"].extents[3] if in_stripe(call) else ""
    if width.isdigit():
        return tuple(sorted(set(of_stripe(int(width), most)), reverse=True))
    if width:
        return tuple(range(most, 0, -1))
    count = str(row_fields(call).get("out_height", "0"))  # 0: the whole image
    pixels = rows.out_width * (int(count) if count.isdigit() else 1)
    return (most, 2) if pairs_among(rows, pixels) else (most,)


def _block_shapes(
    layer: Products, pixels: int, unroll: int, kind: str, bytes_of: str
) -> Sequence[Mapping[str, object]]:
    name, twice = f"{kind}{bytes_of and f'_{bytes_of}'}", isinstance(_form(layer), TwiceForm)
    shapes = [
        dsp_block(
            f"tw_dsp_{pixels}x{size}_{name}",
            pixels,
            size,
            more=layer.nibbles,
            bytes_of=bytes_of,
            paired=layer.paired,
            nibbles=layer.nibbles,
            twice=twice,
        )
        for _, _, size in channel_runs(layer.rows)
    ]
    return [{**shape, "unroll": unroll} for shape in shapes]


def _fields(layer: Products, form: AnyForm, call: Call) -> Mapping[str, object]:
    return {
        **fields(layer.rows, call),
        "pad": layer.pad,
        "groups": fours_of(layer.rows),
        "above": form.above,
        "zero_point": layer.requant.zero_point,
    }


_NIBBLES = c_fragment("dsp_nibbles.h")
_BYTES = c_fragment("dsp_widen_bytes.h")
_PRODUCTS = c_template("${function}", "dsp_products.c.mako")
_PART = c_template("${function}", "dsp_product_part.c.mako")
_COLUMN = c_template("tw_dsp_column_${widen}", "dsp_column.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    widen = _BYTES if values["widen"] == "bytes" else WIDEN
    first = (*((TWICE,) if values["twice"] else ()), *((_NIBBLES,) if values["nibbles"] else ()))
    columns = () if values["direct"] else (widen,) if values["pointwise"] else (widen, _COLUMN)
    shapes = [shape for shapes in values["blocks"].values() for shape in shapes]
    return (*first, *columns, *each_of(BLOCK, shapes), _PRODUCTS)


def _gemm_source(values: Mapping[str, Any]) -> CodeFragments:
    return (*requantiser(values), _PART) if values["part"] else _source(values)


def _kernel(op: str, name: str, **more: Any) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        target="cortex-m",
        engine="dsp",
        access=_access,
        requires=product_layouts,
        pack=_pack,
        scratch_bytes=tile_scratch,
        instructions=_instructions,
        describe=_describe,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
        **more,
    )


KERNELS = (
    _kernel("QConv", "cortex-m.dsp.qconv", match=_match, values=_values, source=_source, call=CALL),
    _kernel("QConv", "cortex-m.dsp.qconv_single", match=_match_single, values=_values, source=_source, call=CALL),
    _kernel(
        "QGemm",
        "cortex-m.dsp.qgemm",
        match=_match,
        multiples={LOOP: _FOUR},
        accumulates=lambda site: accumulates(site, _FOUR),
        values=_gemm_values,
        source=_gemm_source,
        call=GEMM_CALL,
    ),
    *(
        _kernel(
            op,
            f"cortex-m.dsp.{op.lower()}_nibbles",
            weight_bits=(_FOUR_BITS,),
            match=_match_nibbles,
            values=_values,
            source=_source,
            call=CALL,
        )
        for op in ("QConv", "QGemm")
    ),
)
