"""Knows how Helium computes convolutions and matrix products of 16-bit values with 8-bit weights: VMLADAV on eight
values, whose weights are widened as they are read. Does not know depthwise convolutions, nor bytes (`mve_products`).

Pixels go by as those of bytes do (`mve_rows`). Sums that 32 bits do not hold are those of one pixel, by VMLALDAV.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api.graph import Site
from tilewright.api.kernel import Call, CodeFragments, Kernel, Matched, TileShape
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.dsp_words import Words, described, parameters, words_of
from tilewright_cortexm.kernels.mve_packing import CHANNELS, LANES, fours, in_steps
from tilewright_cortexm.kernels.mve_rows import (
    all_pixels,
    block_counts,
    block_instructions,
    channel_runs_of,
    copy_instructions,
    jump_of,
    length_of,
    neighbours_read,
    pixels_together,
    read_in_place,
    room_of,
    row_bytes,
    steps_of,
)
from tilewright_cortexm.kernels.products import CALL, Rows, fields, product_access, rows_of
from tilewright_cortexm.kernels.row_tiles import in_stripe, product_layouts, row_fields
from tilewright_cortexm.kernels.sources import MVE_WORDS_BLOCK, c_template, each_of, limits_name, mve_block

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SCRATCH_LIMIT_BYTES = 8192
_BYTES, _LANES = 2, LANES // 2  # of a value; values of a step


@dataclass(frozen=True, slots=True, kw_only=True)
class MveWords:
    """A layer, and its rows in bytes: what pixels read has twice as many as values."""

    words: Words
    rows: Rows

    @property
    def kind(self) -> str:
        """How sums are requantised: `float`, by the formula; `high`, by the upper half of a product."""
        return "high" if self.words.shifted else "float"


def _match(site: Site) -> MveWords | str:
    words = words_of(site)
    if isinstance(words, str):
        return words
    rows = replace(words.rows, channels=_BYTES * words.rows.channels, single=words.wide)
    low, high = words.pad & 255, words.pad >> 8 & 255
    if rows.padded and low != high:
        return f"positions outside count for {words.pad}, whose two bytes differ"
    layer = MveWords(words=words, rows=rows)
    most = _scratch(site, rows, pixels_together(rows))
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else layer


def _scratch(site: Site, rows: Rows, pixels: int) -> int:
    return 0 if read_in_place(site, rows) else pixels * room_of(rows)


def _blocks(layer: MveWords) -> list[range]:
    outputs = layer.rows.outputs
    return [range(first, min(first + CHANNELS, outputs)) for first in range(0, outputs, CHANNELS)]


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: MveWords = site.analysis
    values, numbers = layer.words.weights.astype(np.int8), parameters(layer.words)
    weights = [part for block in _blocks(layer) for part in in_steps(values[block.start : block.stop], _LANES)]
    if not layer.words.wide:
        rows = numbers.T.astype(np.int64)
        if layer.words.shifted:
            rows[-1] = -rows[-1]  # VSHL shifts to the left
        numbers = np.concatenate([four for block in _blocks(layer) for four in fours(rows, block)]).astype(np.int32)
    return {"W": np.concatenate(weights), "P": numbers.reshape(-1)}


def _access(site: Matched) -> Access:
    layer: MveWords = site.analysis
    channels = layer.rows.outputs if layer.words.wide else CHANNELS * len(_blocks(layer))
    constants = {"W": (layer.words.weights.size,), "P": (channels * layer.words.stored,)}
    return product_access(site, constants, pixels_together(layer.rows))


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: MveWords = tile.site.analysis
    some = rows_of(tile)
    rows = replace(layer.rows, out_width=some.out_width, pixels=some.pixels)
    column, blocks = copy_instructions(tile.site, layer.rows), len(_blocks(layer))
    if layer.words.wide:
        each = 30 if layer.words.shifted else 45
        sums = length_of(rows) / LANES * (1.3 * blocks + 2 * rows.outputs) + 50 * blocks + each * rows.outputs
        return rows.batches * rows.pixels * (sums + column + 40)
    return all_pixels(layer.rows, rows, lambda pixels: blocks * block_instructions(rows, pixels) + pixels * column + 40)


def _tile_scratch(tile: TileShape) -> int:
    layer: MveWords = tile.site.analysis
    most, width = pixels_together(layer.rows), rows_of(tile).out_width
    return _scratch(tile.site, layer.rows, min(most, width) if width < layer.rows.out_width else most)


def _values(call: Call) -> Mapping[str, object]:
    layer: MveWords = call.site.analysis
    rows, requant = layer.rows, layer.words.requant
    (unroll, trips), tail = steps_of(rows), length_of(rows) % LANES // _BYTES
    direct, stripe, jump = read_in_place(call.site, rows), in_stripe(call), jump_of(rows, call, _BYTES)
    counts = block_counts(rows, call)
    dense = direct and not stripe and neighbours_read(rows, call, _BYTES)
    kind = f"u{unroll}_t{tail}_{layer.kind}_{requant.low}_{requant.high}".replace("-", "m")
    way = "dense" if dense else "direct" if direct else f"inside{jump}" if jump else "copied"
    shape = "_".join(str(part) for run in channel_runs_of(rows) for part in run)
    some = "wide" if layer.words.wide else f"stripe{''.join(map(str, counts))}" if stripe else pixels_together(rows)
    return {
        "function": f"tw_mve_words_{some}_{way}_{kind}_{shape}",
        "wide": layer.words.wide,
        "stripe": stripe,
        "nibbles": False,
        "result_bytes": _BYTES,
        "dense": dense,
        "direct": direct,
        "flip": 0,
        "blocks": {count: _shapes(layer, f"{count}", count, unroll, tail, 0) for count in counts},
        "inside": _shapes(layer, f"inside{jump}", 2, rows.length // LANES, 0, jump) if jump else [],
        "runs": [(first, count) for first, count, _ in channel_runs_of(rows)],
        "sizes": channel_runs_of(rows),
        "kind": layer.kind,
        "low": requant.low,
        "high": requant.high,
        "away": False,
        "end": f"{layer.kind.upper()}_{limits_name(requant.low, requant.high)}",
        "stored": layer.words.stored - 1,
        "unroll": unroll,
        "tail": tail,
        **_call_values(layer, trips, call),
    }


def _call_values(layer: MveWords, trips: int, call: Call) -> Mapping[str, object]:
    rows = layer.rows
    scratch = "scratch" in call.operands and not read_in_place(call.site, rows)
    some = row_fields(call)
    return {
        "struct": "tw_mve_conv",
        "fields": {
            **fields(rows, call),
            "x_row": row_bytes(rows, call, _BYTES),
            "y_step": _BYTES * rows.y_step,
            "y_row": _BYTES * (int(str(some["y_row"])) if some else rows.y_row),
            "pad": layer.words.pad & 255,
            "length": layer.words.weights.shape[1],
            "room": room_of(rows),
            "steps": trips,
            "zero_point": layer.words.requant.zero_point,
        },
        "x": call.operands["X" if call.site.node.op == "QConv" else "A"],
        "batches": rows.batches,
        "groups": 1,
        "x_bytes": rows.width * rows.height * rows.x_step,
        "y_bytes": _BYTES * rows.pixels * rows.y_step,
        "w_step": 0,
        "p_step": 0,
        "columns": f"(int8_t *){call.operands['scratch']}" if scratch else "0",
    }


def _shapes(layer: MveWords, way: str, pixels: int, unroll: int, tail: int, jump: int) -> list[Mapping[str, object]]:
    if layer.words.wide:
        return []
    requant = layer.words.requant
    kind = f"{way}_u{unroll}_t{tail}_{layer.kind}_{requant.low}_{requant.high}".replace("-", "m")
    sizes = [size for _, _, size in channel_runs_of(layer.rows)]
    shapes = [
        mve_block(f"tw_mve_words_{pixels}x{size}_{kind}", pixels, size, words=True, suffix=f"_{layer.kind}")
        for size in sizes
    ]
    return [{**shape, "unroll": unroll, "tail": tail, "jump": jump} for shape in shapes]


_PRODUCTS = c_template("${function}", "mve_products.c.mako")
_WIDE = c_template("${function}", "mve_words_wide.c.mako")


def _source(values: Mapping[str, Any]) -> CodeFragments:
    if values["wide"]:
        return (_WIDE,)
    shapes = [shape for shapes in (*values["blocks"].values(), values["inside"]) for shape in shapes]
    return (*each_of(MVE_WORDS_BLOCK, shapes), _PRODUCTS)


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        target="cortex-m",
        engine="mve",
        match=_match,
        access=_access,
        requires=product_layouts,
        pack=_pack,
        scratch_bytes=_tile_scratch,
        instructions=_instructions,
        describe=lambda site: described(replace(site, analysis=site.analysis.words)),
        values=_values,
        source=_source,
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=("onnx", "multiply-shift"),
    )


KERNELS = (_kernel("QConv", "cortex-m.mve.qconv_words"), _kernel("QGemm", "cortex-m.mve.qgemm_words"))
