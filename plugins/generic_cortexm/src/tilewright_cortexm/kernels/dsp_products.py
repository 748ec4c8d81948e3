"""Knows how the DSP extension computes convolutions and matrix products: SMLAD on widened columns, three at a time.
Does not know depthwise convolutions.

A column is everything that one output pixel reads, as 16-bit halves in scratch. Three columns and two channels are
computed together, or one column and four channels where there are fewer pixels or too little scratch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import Access, Call, Kernel, Layout, Site, TileShape, channels_last, row_major, whole
from tilewright_cortexm.kernels.dsp_requant import DspForm, dsp_form
from tilewright_cortexm.kernels.products import Products, Rows, products, refused
from tilewright_cortexm.kernels.sources import c_text

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

SCRATCH_LIMIT_BYTES = 4096
_UNROLLS = (4, 3, 2, 1)


def _groups(rows: Rows) -> int:
    """Fours of values in one run."""
    return -(-rows.length // 4)


def _scratch(rows: Rows, pixels: int) -> int:
    edge = rows.length if rows.padded else 0
    return pixels * rows.runs * _groups(rows) * 8 + -(-edge // 4) * 4


def _pixels(rows: Rows) -> int:
    """Columns computed together."""
    return 3 if rows.pixels >= 3 and rows.outputs > 1 and _scratch(rows, 3) <= SCRATCH_LIMIT_BYTES else 1


def _block_channels(rows: Rows) -> int:
    return 2 if _pixels(rows) == 3 else 4


def _blocks(rows: Rows) -> list[tuple[int, int, int]]:
    """First channel, how many blocks, channels in each: all channels, in one or two calls."""
    size, outputs = _block_channels(rows), rows.outputs
    found = [(0, outputs // size, size)] if outputs >= size else []
    return found + ([(outputs - outputs % size, 1, outputs % size)] if outputs % size else [])


def _channel_blocks(rows: Rows) -> list[range]:
    """The channels of every block, in their order."""
    return [
        range(first + index * size, first + (index + 1) * size)
        for first, count, size in _blocks(rows)
        for index in range(count)
    ]


def _form(layer: Products) -> DspForm:
    """Channels of one block are requantised in pairs."""
    blocks = _channel_blocks(layer.rows)
    pairs = [range(first, min(first + 2, block.stop)) for block in blocks for first in block[::2]]
    return dsp_form(layer.requant, layer.form, pairs)


def _pack(site: Site) -> Mapping[str, Array]:
    layer = products(site)
    rows = layer.rows
    padded = np.zeros((rows.outputs, rows.runs, _groups(rows) * 4), np.int8)
    padded[..., : rows.length] = layer.weights
    fours = padded.reshape(rows.outputs, -1, 4)
    words = np.asarray(_form(layer).words)
    blocks = _channel_blocks(rows)
    weights = [fours[block.start : block.stop].swapaxes(0, 1).reshape(-1) for block in blocks]
    parameters = [part[block.start : block.stop] for block in blocks for part in (layer.bias, words)]
    return {
        "W": np.concatenate(weights).view(np.uint32),
        "P": np.concatenate(parameters).astype(np.int32),
    }


def _access(site: Site) -> Access:
    rows = products(site).rows
    first = "X" if site.node.op == "QConv" else "A"
    words = rows.outputs * rows.runs * _groups(rows)
    return whole({first: site.input(0).shape, "W": (words,), "P": (2 * rows.outputs,)}, {"Y": site.output.shape})


def _accepts(site: Site) -> str | None:
    reason = refused(site)
    if reason:
        return reason
    rows = products(site).rows
    need = _scratch(rows, _pixels(rows))
    if need > SCRATCH_LIMIT_BYTES:
        return f"needs {need} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}"
    return None


def _requires(site: Site) -> Mapping[str, Layout]:
    if site.node.op == "QConv":
        layout = channels_last(len(site.output.shape))
        return {"X": layout, "Y": layout}
    return {"A": row_major(len(site.input(0).shape)), "Y": row_major(len(site.output.shape))}


def _cycles(tile: TileShape) -> float:
    """Executed instructions."""
    layer = products(tile.site)
    rows, pixels, channels = layer.rows, _pixels(layer.rows), _block_channels(layer.rows)
    groups = rows.runs * _groups(rows)
    step = 20 if pixels == 3 else 19
    slow = float(_form(layer).exact.mean()) * pixels * channels * 6
    block = groups * step + 3 * groups / _unroll(groups) + 25 + 5 * pixels * channels / 2 + slow
    column = 7 * groups + 10 * rows.runs + 10
    return rows.batches * -(-rows.pixels // pixels) * (len(_channel_blocks(rows)) * block + pixels * column + 30)


def _unroll(groups: int) -> int:
    return next(count for count in _UNROLLS if groups % count == 0)


def _describe(site: Site) -> Mapping[str, object]:
    layer = products(site)
    rows = layer.rows
    return {
        "accumulator_bits": 32,
        "columns": _pixels(rows),
        "channels": _block_channels(rows),
        "requant": {"channels": rows.outputs, "exact": int(_form(layer).exact.sum()), "proved": sum(layer.form.proved)},
    }


def _values(call: Call) -> Mapping[str, object]:
    site = call.site
    layer = products(site)
    rows, requant, form = layer.rows, layer.requant, _form(layer)
    pixels, unroll = _pixels(rows), _unroll(rows.runs * _groups(rows))
    kind = f"u{unroll}_{form.label(requant)}"
    widen = site.input(0).dtype.value
    return {
        "function": f"tw_dsp_products_{widen}_{pixels}_{kind}_{_signature(rows)}",
        "widen": widen,
        "pixels": pixels,
        "blocks": _block_shapes(rows, pixels, unroll, kind),
        "runs": [(first, count) for first, count, _ in _blocks(rows)],
        **form.names,
        "low": requant.low,
        "high": requant.high,
        "fields": _fields(layer, form),
        "x": call.operands["X" if site.node.op == "QConv" else "A"],
        "batches": rows.batches,
        "x_bytes": rows.width * rows.height * rows.channels,
        "y_bytes": rows.pixels * rows.outputs,
    }


def _signature(rows: Rows) -> str:
    return "_".join(str(part) for block in _blocks(rows) for part in block)


def _block_shapes(rows: Rows, pixels: int, unroll: int, kind: str) -> Sequence[Mapping[str, object]]:
    return [
        {"block": f"tw_dsp_{pixels}x{size}_{kind}", "pixels": pixels, "channels": size, "unroll": unroll}
        for _, _, size in _blocks(rows)
    ]


def _fields(layer: Products, form: DspForm) -> Mapping[str, int]:
    rows = layer.rows
    return {
        "width": rows.width,
        "height": rows.height,
        "channels": rows.channels,
        "out_width": rows.out_width,
        "pixels": rows.pixels,
        "outputs": rows.outputs,
        "row_taps": rows.row_taps,
        "column_runs": rows.column_runs,
        "run_taps": rows.run_taps,
        "row_stride": rows.row_stride,
        "column_stride": rows.column_stride,
        "row_dilation": rows.row_dilation,
        "column_dilation": rows.column_dilation,
        "top": rows.top,
        "left": rows.left,
        "pad": layer.pad,
        "groups": _groups(rows),
        "above": form.above,
        "zero_point": layer.requant.zero_point,
    }


_SOURCE = c_text("dsp.h", "dsp_columns.c", "dsp_block.c", "dsp_products.c")
_CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_dsp_conv){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${x}${at(x_bytes)}, ${W}, ${P}, (uint8_t *)${Y}${at(y_bytes)}, (uint32_t *)(void *)${scratch});"""


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        target="cortex-m",
        engine="dsp",
        accepts=_accepts,
        access=_access,
        requires=_requires,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(products(tile.site).rows, _pixels(products(tile.site).rows)),
        cycles=_cycles,
        describe=_describe,
        values=_values,
        source=_SOURCE,
        call=_CALL,
        includes=("<stdint.h>", "<string.h>"),
    )


KERNELS = (_kernel("QConv", "cortex-m.dsp.qconv"), _kernel("QGemm", "cortex-m.dsp.qgemm"))
