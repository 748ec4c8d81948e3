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

from tilewright.api import align_up
from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape, weight_bits
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_nibbles import refused, words_of
from tilewright_cortexm.kernels.dsp_pairs import pairs_of
from tilewright_cortexm.kernels.mve_nibbles import nibble_scales, refused_scales
from tilewright_cortexm.kernels.mve_packing import CHANNELS, LANES, packed
from tilewright_cortexm.kernels.mve_requant import MveForm, mve_form, taken_form
from tilewright_cortexm.kernels.mve_rows import (
    SCRATCH_LIMIT_BYTES,
    all_pixels,
    block_counts,
    block_instructions,
    channel_runs_of,
    copy_instructions,
    flip_of,
    jump_of,
    length_of,
    neighbours_read,
    pixels_together,
    read_in_place,
    room_of,
    steps_of,
)
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
from tilewright_cortexm.kernels.row_tiles import in_stripe, product_layouts
from tilewright_cortexm.kernels.sources import MVE_BLOCK, c_fragment, c_template, each_of, mve_block
from tilewright_cortexm.kernels.twice import ROUNDINGS

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_FOUR_BITS = 4


def _input(site: Site) -> str:
    return "X" if site.node.op == "QConv" else "A"


def _scratch(site: Site, rows: Rows, pixels: int) -> int:
    return 0 if read_in_place(site, rows) else pixels * room_of(rows)


def _tile_scratch(tile: TileShape) -> int:
    rows, width = tile.site.analysis.rows, rows_of(tile).out_width
    most = min(pixels_together(rows), width) if width < rows.out_width else pixels_together(rows)
    return _scratch(tile.site, rows, most) if share(tile) == 1 else 0


def _checked(site: Site) -> Products | str:
    layer = products(site)
    form = layer if isinstance(layer, str) else mve_form(layer.requant, layer.bounds)
    return form if isinstance(form, str) else layer


def _form(layer: Products) -> MveForm:
    return taken_form(layer.requant, layer.bounds)


def _match(site: Site) -> Products | str:
    layer = _checked(site)
    most = _scratch(site, layer.rows, pixels_together(layer.rows)) if isinstance(layer, Products) else 0
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else layer


def _match_single(site: Site) -> Products | str:
    layer = _checked(site)
    if isinstance(layer, str):
        return layer
    if read_in_place(site, layer.rows) or pixels_together(layer.rows) == 1:
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
    return packed(layer, blocks, flip_of(site), words)


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
    return sum(count * words_of(channels) for _, count, channels in channel_runs_of(layer.rows))


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
    weights = rows.groups * _bytes_of_value(site.analysis) * length_of(rows)
    constants = {"W": (weights,), "P": (parameters,)}
    if site.analysis.nibbles:
        return product_access(site, constants, pixels_together(rows))
    return part_access(site, constants, pixels_together(rows), LANES)


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    rows = rows_of(tile)
    if share(tile) < 1:
        return rows.outputs * (share(tile) * length_of(rows) / LANES * 4 + 25) + 30
    return all_pixels(tile.site.analysis.rows, rows, lambda pixels: _block_instructions(tile.site, rows, pixels))


def _block_instructions(site: Matched, rows: Rows, pixels: int) -> float:
    """Of so many pixels, and what they take to be there."""
    block = block_instructions(rows, pixels)
    offset = 0.0
    if site.analysis.nibbles:
        block += 3 * pixels
        offset = pixels * (2.5 * length_of(rows) / LANES + 14)
    column = copy_instructions(site, rows)
    return len(_channel_blocks(rows)) * block + rows.groups * (pixels * column + offset + 40)


def _describe(site: Matched) -> Mapping[str, object]:
    rows: Rows = site.analysis.rows
    return {
        "accumulator_bits": 32,
        "columns": pixels_together(rows),
        "channels": CHANNELS,
        **({"weight_bits": _FOUR_BITS} if site.analysis.nibbles else {}),
        "requant": _form(site.analysis).described(),
    }


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer: Products = site.analysis
    rows = layer.rows
    pixels, (unroll, trips), tail = pixels_together(rows), steps_of(rows), length_of(rows) % LANES
    stripe, counts = in_stripe(call), block_counts(rows, call)
    form = _form(layer)
    kind = f"{'nibbles_' * layer.nibbles}u{unroll}_t{tail}_{form.label}"
    direct, flip = read_in_place(site, rows), flip_of(site)
    dense = direct and not stripe and neighbours_read(rows, call)
    shape = "_".join(str(part) for block in channel_runs_of(rows) for part in block)
    jump = jump_of(rows, call)
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
        "runs": [(first, count) for first, count, _ in channel_runs_of(rows)],
        **form.names(),
        "needs": form.needs(),
        "fields": _fields(layer, flip, trips, call),
        "x": call.operands[_input(site)],
        "struct": "tw_mve_conv",
        "result_bytes": 1,
        "w_step": _bytes_of_value(layer) * length_of(rows),
        "p_step": (1 + form.stored) * align_up(rows.outputs, CHANNELS),
        **call_values(layer),
        "columns": f"(int8_t *){call.operands['scratch']}" if "scratch" in call.operands and not direct else "0",
    }


def _block_shapes(layer: Products, pixels: int, kind: str) -> list[Mapping[str, object]]:
    unroll, tail = steps_of(layer.rows)[0], length_of(layer.rows) % LANES
    more: Any = {"nibbles": layer.nibbles, "suffix": _form(layer).suffix}
    shapes = [
        mve_block(f"tw_mve_{pixels}x{size}_{kind}", pixels, size, **more) for _, _, size in channel_runs_of(layer.rows)
    ]
    return [{**shape, "unroll": unroll, "tail": tail, "jump": 0} for shape in shapes]


def _inside_shapes(layer: Products, kind: str, jump: int) -> list[Mapping[str, object]]:
    """Blocks of two pixels that are read where they are: a row of taps in every trip of the loop."""
    rows = layer.rows
    name = f"inside{rows.length}_{jump}_{kind}"
    more: Any = {"nibbles": layer.nibbles, "suffix": _form(layer).suffix}
    shapes = [mve_block(f"tw_mve_2x{size}_{name}", 2, size, **more) for _, _, size in channel_runs_of(rows) if jump]
    return [{**shape, "unroll": rows.length // LANES, "tail": 0, "jump": jump} for shape in shapes]


def _gemm_values(call: Call) -> Mapping[str, object]:
    values, part = _values(call), part_values(call)
    if not part["part"]:
        return {**values, **part}
    layer: Products = call.site.analysis
    rows, flip = layer.rows, flip_of(call.site)
    shape = "_".join(str(part) for block in channel_runs_of(rows) for part in block)
    return {
        **values,
        **part,
        "function": f"tw_mve_product_part_flip{flip}_{length_of(rows)}_{_form(layer).label}_{shape}",
        "shapes": channel_runs_of(rows),
        "depth": length_of(rows),
        "numbers": layer.requant.zero_point,
    }


def _fields(layer: Products, flip: int, trips: int, call: Call) -> Mapping[str, object]:
    return {
        **fields(layer.rows, call),
        "pad": layer.pad - flip,
        "length": length_of(layer.rows),
        "room": room_of(layer.rows),
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
        requires=product_layouts,
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
