"""Knows how Helium computes convolutions and matrix products: VMLADAV on runs of sixteen bytes.
Does not know depthwise convolutions. Weights of 4 bits stay so (`dsp_nibbles`).

Two pixels and four channels are computed together, or one pixel where there is only one. What a pixel reads is
copied into one run first, unless it is one already (1x1), or the windows of two neighbours are inside and their rows of
taps are whole sixteens. A kernel of its own copies one pixel at a time, for where memory is short. Of a stripe the last
pixel of a row may be alone. A product of one row can be computed in parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import align_up, ceil_div
from tilewright.api.graph import DType, Layout, Site, channels_last, row_major
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, weight_bits
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_nibbles import refused, words_of
from tilewright_cortexm.kernels.dsp_pairs import pairs_of
from tilewright_cortexm.kernels.mve_nibbles import nibble_scales, refused_scales
from tilewright_cortexm.kernels.mve_packing import CHANNELS, LANES, packed
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form
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
from tilewright_cortexm.kernels.row_tiles import in_stripe, row_fields
from tilewright_cortexm.kernels.sources import MVE_BLOCK, c_fragment, c_template, each_of, mve_block
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SCRATCH_LIMIT_BYTES = 4096
_FOUR_BITS = 4
_UNROLLS = (4, 3, 2, 1)
_LONGEST_ROW = 12 * LANES  # of taps, for which there is code
_IMMEDIATE = 4096


def _input(site: Site) -> str:
    return "X" if site.node.op == "QConv" else "A"


def _flip(site: Site) -> int:
    """What unsigned values are xored with: value - 128, signed."""
    return 128 if site.input(0).dtype is DType.U8 else 0


def _direct(site: Site, rows: Rows) -> bool:
    return rows.runs == 1 and rows.run_taps == 1 and not rows.padded and not _flip(site)


def _length(rows: Rows) -> int:
    return rows.runs * rows.length


def _room(rows: Rows) -> int:
    return align_up(_length(rows), LANES)


def _pixels(rows: Rows) -> int:
    return 2 if rows.pixels > 1 and not rows.single and 2 * _room(rows) <= SCRATCH_LIMIT_BYTES else 1


def _blocks(rows: Rows) -> list[tuple[int, int, int]]:
    """First channel, how many blocks, channels in each."""
    outputs, rest = rows.outputs, rows.outputs % CHANNELS
    found = [(0, outputs // CHANNELS, CHANNELS)] if outputs >= CHANNELS else []
    return found + ([(outputs - rest, 1, rest)] if rest else [])


def _scratch(site: Site, rows: Rows, pixels: int) -> int:
    return 0 if _direct(site, rows) else pixels * _room(rows)


def _tile_scratch(tile: TileShape) -> int:
    rows, width = tile.site.analysis.rows, rows_of(tile).out_width
    most = min(_pixels(rows), width) if width < rows.out_width else _pixels(rows)
    return _scratch(tile.site, rows, most) if share(tile) == 1 else 0


def _checked(site: Site) -> Products | str:
    layer = products(site)
    form = layer if isinstance(layer, str) else mve_form(layer.requant, layer.bounds)
    return form if isinstance(form, str) else layer


def _form(layer: Products) -> MveForm:
    return taken_form(layer.requant, layer.bounds)


def _match(site: Site) -> Products | str:
    layer = _checked(site)
    most = _scratch(site, layer.rows, _pixels(layer.rows)) if isinstance(layer, Products) else 0
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else layer


def _match_single(site: Site) -> Products | str:
    layer = _checked(site)
    if isinstance(layer, str):
        return layer
    if _direct(site, layer.rows) or _pixels(layer.rows) == 1:
        return "is computed without a copy of several pixels by cortex-m.mve.qconv"
    return replace(layer, rows=replace(layer.rows, single=True))


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Products = site.analysis
    form, blocks = _form(layer), _channel_blocks(layer.rows)
    words = form.words
    if layer.nibbles:
        words = nibble_scales(
            words, [pair for block in blocks for pair in pairs_of(block)], floats=form.kind == "float"
        )
    return packed(layer, blocks, _flip(site), words)


def _match_nibbles(site: Site) -> Products | str:
    """Layers whose weights the model file has in 4 bits."""
    if weight_bits(site) != _FOUR_BITS:
        return f"weights have {weight_bits(site)} bits"
    layer = _match(site)
    if isinstance(layer, str):
        return layer
    form = _form(layer)
    reason = refused(layer.weights, layer.bounds) or refused_scales(form.words, floats=form.kind == "float")
    return reason or replace(layer, nibbles=True)


def _bytes_of_value(layer: Products) -> int:
    """Bytes that one value of all channels of a group takes."""
    if not layer.nibbles:
        return layer.rows.outputs
    return sum(count * words_of(channels) for _, count, channels in _blocks(layer.rows))


def _channel_blocks(rows: Rows) -> list[range]:
    """The channels of every block of every group, in their order."""
    return [
        range(group + first, group + min(first + CHANNELS, rows.outputs))
        for group in range(0, rows.y_step, rows.outputs)
        for first in range(0, rows.outputs, CHANNELS)
    ]


def _access(site: Matched) -> Access:
    rows: Rows = site.analysis.rows
    parameters = (1 + _form(site.analysis).stored) * CHANNELS * len(_channel_blocks(rows))
    weights = rows.groups * _bytes_of_value(site.analysis) * _length(rows)
    constants = {"W": (weights,), "P": (parameters,)}
    if site.analysis.nibbles:
        return product_access(site, constants, _pixels(rows))
    return part_access(site, constants, _pixels(rows), LANES)


def _requires(site: Site) -> Mapping[str, Layout]:
    if site.node.op == "QConv":
        layout = channels_last(len(site.output.shape))
        return {"X": layout, "Y": layout}
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _steps(rows: Rows) -> tuple[int, int]:
    """Steps of sixteen in the inner loop's body, and its trips; zeros where there is no whole step."""
    steps = _length(rows) // LANES
    unroll = next((count for count in _UNROLLS if steps and steps % count == 0), 0)
    return unroll, steps // unroll if unroll else 0


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    rows = rows_of(tile)
    if share(tile) < 1:
        return rows.outputs * (share(tile) * _length(rows) / LANES * 4 + 25) + 30
    pixels = _pixels(tile.site.analysis.rows)
    if rows.out_width == tile.site.analysis.rows.out_width:
        return rows.batches * ceil_div(rows.pixels, pixels) * _block_instructions(tile.site, rows, pixels)
    many, rest = divmod(rows.out_width, pixels)
    row = many * _block_instructions(tile.site, rows, pixels) + rest * _block_instructions(tile.site, rows, 1)
    return rows.pixels // rows.out_width * row


def _block_instructions(site: Matched, rows: Rows, pixels: int) -> float:
    """Of so many pixels, and what they take to be there."""
    unroll, trips = _steps(rows)
    step = pixels + CHANNELS + pixels * CHANNELS
    tail = step + 9 if _length(rows) % LANES else 0
    block = trips * (unroll * step + 2) + tail + 14 + 11 * pixels
    offset = 0.0
    if site.analysis.nibbles:
        block += 3 * pixels
        offset = pixels * (2.5 * _length(rows) / LANES + 14)
    column = 12 if _direct(site, rows) else _copied(site) * (rows.runs * (15 + rows.length / LANES * 4) + 15)
    return len(_channel_blocks(rows)) * block + rows.groups * (pixels * column + offset + 40)


def _copied(site: Matched) -> float:
    """The part of a layer's pixels whose values are copied."""
    rows: Rows = site.analysis.rows
    if not _reads_inside(site, rows):
        return 1.0
    high = rows.height - (rows.row_taps - 1) * rows.row_dilation, rows.row_stride
    wide = rows.width - rows.run_taps + 1, rows.column_stride
    down, across = (ceil_div(max(extent, 0), stride) for extent, stride in (high, wide))
    return max(0.0, 1 - down * across / rows.pixels)


def _describe(site: Matched) -> Mapping[str, object]:
    rows: Rows = site.analysis.rows
    return {
        "accumulator_bits": 32,
        "columns": _pixels(rows),
        "channels": CHANNELS,
        **({"weight_bits": _FOUR_BITS} if site.analysis.nibbles else {}),
        "requant": _form(site.analysis).described(),
    }


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer: Products = site.analysis
    rows = layer.rows
    pixels, (unroll, trips), tail = _pixels(rows), _steps(rows), _length(rows) % LANES
    stripe, counts = in_stripe(call), _counts(rows, call)
    form = _form(layer)
    kind = f"{'nibbles_' * layer.nibbles}u{unroll}_t{tail}_{form.label}"
    direct, flip = _direct(site, rows), _flip(site)
    dense = direct and not stripe and _neighbours(rows, call)
    shape = "_".join(str(part) for block in _blocks(rows) for part in block)
    jump = _jump(rows, call)
    way = "dense" if dense else "direct" if direct else f"inside{jump}" if jump else f"flip{flip}"
    some = f"stripe{''.join(map(str, counts))}" if stripe else pixels
    return {
        "function": f"tw_mve_products_{some}_{way}_{kind}_{shape}",
        "stripe": stripe,
        "nibbles": layer.nibbles,
        "dense": dense,
        "direct": direct,
        "flip": flip,
        "blocks": {count: _block_shapes(layer, count, kind) for count in counts},
        "inside": _inside_shapes(layer, kind, jump),
        "runs": [(first, count) for first, count, _ in _blocks(rows)],
        **form.names(),
        "needs": form.needs(),
        "fields": _fields(layer, flip, trips, call),
        "x": call.operands[_input(site)],
        "struct": "tw_mve_conv",
        "w_step": _bytes_of_value(layer) * _length(rows),
        "p_step": (1 + form.stored) * align_up(rows.outputs, CHANNELS),
        **call_values(layer),
        "columns": f"(int8_t *){call.operands['scratch']}" if "scratch" in call.operands and not direct else "0",
    }


def _block_shapes(layer: Products, pixels: int, kind: str) -> list[Mapping[str, object]]:
    unroll, tail = _steps(layer.rows)[0], _length(layer.rows) % LANES
    more: Any = {"nibbles": layer.nibbles, "suffix": _form(layer).suffix}
    shapes = [mve_block(f"tw_mve_{pixels}x{size}_{kind}", pixels, size, **more) for _, _, size in _blocks(layer.rows)]
    return [{**shape, "unroll": unroll, "tail": tail, "jump": 0} for shape in shapes]


def _reads_inside(site: Site, rows: Rows) -> bool:
    """Whether pixels whose windows are inside are read where they are: rows of taps are whole sixteens."""
    plain = rows.groups == rows.column_runs == 1 and not _flip(site) and not _direct(site, rows)
    return plain and _pixels(rows) == 2 and rows.length % LANES == 0 and rows.length <= _LONGEST_ROW


def _jump(rows: Rows, call: Call) -> int:
    """Bytes from the end of a row of taps to the next one; 0 where values are copied."""
    if in_stripe(call) or not _reads_inside(call.site, rows):
        return 0
    jump = rows.row_dilation * int(str(row_fields(call).get("x_row", rows.x_row))) - rows.length
    return jump if 0 < jump < _IMMEDIATE else 0


def _inside_shapes(layer: Products, kind: str, jump: int) -> list[Mapping[str, object]]:
    """Blocks of two pixels that are read where they are: a row of taps in every trip of the loop."""
    rows = layer.rows
    name = f"inside{rows.length}_{jump}_{kind}"
    more: Any = {"nibbles": layer.nibbles, "suffix": _form(layer).suffix}
    shapes = [mve_block(f"tw_mve_2x{size}_{name}", 2, size, **more) for _, _, size in _blocks(rows) if jump]
    return [{**shape, "unroll": rows.length // LANES, "tail": 0, "jump": jump} for shape in shapes]


def _neighbours(rows: Rows, call: Call) -> bool:
    """Whether the pixels that are read follow one another as those that are computed do."""
    return rows.row_stride == rows.column_stride == 1 and row_fields(call).get("x_row", rows.x_row) == rows.x_row


def _counts(rows: Rows, call: Call) -> tuple[int, ...]:
    """How many pixels the blocks of a call have, the most first. All of a stripe whose width the program has."""
    most, width = _pixels(rows), call.operands["Y"].extents[3] if in_stripe(call) else str(_pixels(rows))
    if not width.isdigit():
        return tuple(range(most, 0, -1))
    return (*([most] if int(width) >= most else []), *([1] if int(width) % most else []))


def _gemm_values(call: Call) -> Mapping[str, object]:
    values, part = _values(call), part_values(call)
    if not part["part"]:
        return {**values, **part}
    layer: Products = call.site.analysis
    rows, flip = layer.rows, _flip(call.site)
    shape = "_".join(str(part) for block in _blocks(rows) for part in block)
    return {
        **values,
        **part,
        "function": f"tw_mve_product_part_flip{flip}_{_length(rows)}_{_form(layer).label}_{shape}",
        "shapes": _blocks(rows),
        "depth": _length(rows),
        "numbers": layer.requant.zero_point,
    }


def _fields(layer: Products, flip: int, trips: int, call: Call) -> Mapping[str, object]:
    return {
        **fields(layer, call),
        "pad": layer.pad - flip,
        "length": _length(layer.rows),
        "room": _room(layer.rows),
        "steps": trips,
        "zero_point": layer.requant.zero_point,
    }


_NIBBLES = c_fragment("mve_nibbles.h")
_PRODUCTS = c_template("${function}", "mve_products.c.mako")
_PART = c_template("${function}", "mve_product_part.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    shapes = [shape for shapes in (*values["blocks"].values(), values["inside"]) for shape in shapes]
    needs = (*values["needs"], *((_NIBBLES,) if values["nibbles"] else ()))
    return (*needs, *each_of(MVE_BLOCK, shapes), _PRODUCTS)


def _gemm_source(values: Mapping[str, Any]) -> CodeFragments:
    return (*values["needs"], _PART) if values["part"] else _source(values)


def _kernel(op: str, name: str, **more: Any) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        target="cortex-m",
        engine="mve",
        access=_access,
        requires=_requires,
        pack=_pack,
        scratch_bytes=_tile_scratch,
        instructions=_instructions,
        describe=_describe,
        includes=("<stdint.h>", "<string.h>"),
        roundings=ROUNDINGS,
        **more,
    )


KERNELS = (
    _kernel("QConv", "cortex-m.mve.qconv", match=_match, values=_values, source=_source, call=CALL),
    _kernel("QConv", "cortex-m.mve.qconv_single", match=_match_single, values=_values, source=_source, call=CALL),
    _kernel(
        "QGemm",
        "cortex-m.mve.qgemm",
        match=_match,
        multiples={LOOP: LANES},
        accumulates=lambda site: accumulates(site, LANES),
        values=_gemm_values,
        source=_gemm_source,
        call=GEMM_CALL,
    ),
    *(
        _kernel(
            op,
            f"cortex-m.mve.{op.lower()}_nibbles",
            weight_bits=(_FOUR_BITS,),
            match=_match_nibbles,
            values=_values,
            source=_source,
            call=CALL,
        )
        for op in ("QConv", "QGemm")
    ),
)
