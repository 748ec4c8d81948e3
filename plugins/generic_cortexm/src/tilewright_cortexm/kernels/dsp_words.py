"""Knows how the DSP extension computes convolutions and matrix products of 16-bit values with 8-bit weights: SMLAD on
values as they lie, four channels together. Does not know depthwise convolutions, nor layers of bytes (`dsp_products`).

What one pixel reads is gathered in scratch; a pixel that lies together is read where it is. Weights are bytes, four of
a channel in a word, and are widened as they are multiplied. Sums have 32 bits where these hold them. Else the sum of as
many products as 32 bits hold, whatever they are, is added to one of 64 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Float32HalfEven, MultiplyShift, Requant, Site
from tilewright.api.kernel import AccumulatorBounds, Call, CodeFragments, Kernel, Matched, TileShape, sum_bounds
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.products import (
    Rows,
    conv_rows,
    conv_weights,
    fields,
    gemm_rows,
    gemm_weights,
    product_access,
    rows_of,
)
from tilewright_cortexm.kernels.row_tiles import product_layouts
from tilewright_cortexm.kernels.sources import c_template, each_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

SCRATCH_LIMIT_BYTES = 8192
CHUNK = 127  # fours of products that 32 bits hold the sum of: each is at most 2**22
_TOGETHER = 4  # channels
_IN_TURN = (0, 2, 1, 3)  # bytes of a word: SXTB16 takes the first and the third


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored, weights fit int8."""

    rows: Rows
    weights: Integers  # [outputs, values of a pixel]
    bias: Integers
    pad: int
    requant: Requant
    bounds: AccumulatorBounds

    @property
    def fours(self) -> int:
        """Fours of values of a pixel, rounded up."""
        return ceil_div(self.weights.shape[1], 4)

    @property
    def wide(self) -> bool:
        """Whether sums need more than 32 bits."""
        return self.bounds.bits > 32 or bool(np.abs(self.bias).max(initial=0) >= 2**31)

    @property
    def shifted(self) -> bool:
        """Whether they are multiplied and shifted."""
        return isinstance(self.requant.rounding, MultiplyShift)

    @property
    def stored(self) -> int:
        """Words of a channel: its bias, and how it is requantised."""
        return 1 + self.wide + (3 if self.shifted else 1)

    @property
    def direct(self) -> bool:
        """Whether all that a pixel reads lies together in x, and comes out even."""
        rows = self.rows
        return rows.runs == rows.run_taps == 1 and not rows.padded and rows.length % 4 == 0

    @property
    def inline(self) -> bool:
        """Whether one instruction clamps results of 32-bit sums: blocks requantise them before they are stored."""
        return not self.wide and self.requant.high == 2**15 - 1 and self.requant.low in (-(2**15), 0)


def wide_reason(site: Site) -> str | None:
    """Why a layer is none of 16-bit values and 8-bit weights, or None."""
    x, w, y = site.input(0), site.input(1), site.output
    if (x.dtype, y.dtype) != (DType.I16, DType.I16):
        return f"is {x.dtype.value} to {y.dtype.value}; this kernel takes i16"
    if w.dtype not in (DType.I8, DType.U8) or site.constant(1) is None:
        return "weights must be constants of 8 bits"
    if site.has_input(2) and site.constant(2) is None:
        return "the bias must be constant"
    if site.node.op == "QConv" and len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    return "has no elements" if 0 in x.shape or 0 in y.shape else None


def words_of(site: Site) -> Words | str:
    """The layer in this form, or why it has none."""
    reason = wide_reason(site)
    conv = site.node.op == "QConv"
    if reason or (conv and site.node.integer("group", 1) > 1):
        return reason or "has several groups"
    rows = conv_rows(site) if conv else gemm_rows(site)
    weights = (conv_weights(site) if conv else gemm_weights(site)).reshape(rows.outputs, -1)
    zero = site.node.integer("x_zero_point" if conv else "a_zero_point")
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(rows.outputs, np.int64)
    layer = Words(
        rows=rows,
        weights=weights,
        bias=bias - zero * weights.sum(axis=1),
        pad=site.node.integer("pad_value", zero) if conv else 0,
        requant=site.node.requant(),
        bounds=sum_bounds(site),
    )
    return refused_numbers(layer.weights, layer.pad) or refused_rounding(layer) or layer


def refused_numbers(weights: Integers, pad: int) -> str | None:
    """Why weights and padding do not fit what is multiplied, or None."""
    if weights.min() < -128 or weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    return None if -(2**15) <= pad < 2**15 else f"positions outside count for {pad}, which i16 does not hold"


def refused_rounding(layer: Words) -> str | None:
    """Why its sums are not requantised here, or None."""
    rounding, zero = layer.requant.rounding, layer.requant.zero_point
    if isinstance(rounding, Float32HalfEven):
        return None
    if not isinstance(rounding, MultiplyShift) or (rounding.rounding, rounding.bits) != ("half-up", 64):
        return "its rounding is another"
    if any(rounding.addend) or max(rounding.multiplier) >= 2**15 or min(rounding.multiplier) < 0:
        return "its multipliers are not those of tflm"
    if layer.wide:
        return None if 1 <= min(rounding.shift) <= max(rounding.shift) <= 62 else "its shifts are not those of tflm"
    if not 17 <= min(rounding.shift) <= max(rounding.shift) <= 46:
        return "a channel is scaled by a quarter or more"
    most = max(rounding.shift) - 16
    return "its zero point does not fit above the shift" if abs(zero) << most >= 2**29 else None


def parameters(layer: Words) -> npt.NDArray[np.int32]:
    """[channels, words]: the bias, in one word or two, and how it is requantised."""
    channels, requant = len(layer.bias), layer.requant
    rounding, columns = requant.rounding, [layer.bias & 0xFFFFFFFF, *([layer.bias >> 32] if layer.wide else [])]
    if isinstance(rounding, MultiplyShift):
        multiplier, shift = (_spread(values, channels) for values in (rounding.multiplier, rounding.shift))
        if layer.wide:
            columns += [multiplier, np.full(channels, requant.zero_point), shift]
        else:
            amount = shift - 16
            columns += [multiplier << 16, (requant.zero_point << amount) + (1 << (amount - 1)), amount]
    else:
        columns.append(np.asarray(requant.scales(channels), np.float32).view(np.uint32).astype(np.int64))
    stacked = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
    return stacked.astype(np.uint32).view(np.int32)


def _spread(values: tuple[int, ...], channels: int) -> Integers:
    return np.broadcast_to(np.asarray(values, np.int64), (channels,))


def channel_runs(outputs: int) -> list[tuple[int, int, int]]:
    """First channel, how many blocks, channels in each."""
    most = outputs - outputs % _TOGETHER
    result = [(0, most // _TOGETHER, _TOGETHER)] if most else []
    return result + ([(most, 1, outputs - most)] if outputs > most else [])


def _pack(site: Matched) -> Mapping[str, Array]:
    layer: Words = site.analysis
    padded = np.zeros((len(layer.bias), layer.fours * 4), np.int8)
    padded[:, : layer.weights.shape[1]] = layer.weights
    words = padded.reshape(len(layer.bias), layer.fours, 4)[..., _IN_TURN]
    blocks = [
        words[first + index * size : first + (index + 1) * size].swapaxes(0, 1).reshape(-1)
        for first, count, size in channel_runs(len(layer.bias))
        for index in range(count)
    ]
    numbers = parameters(layer)
    if layer.inline:  # the biases of a block, then the rest of it
        parts = [
            numbers[first + index * size : first + (index + 1) * size]
            for first, count, size in channel_runs(len(layer.bias))
            for index in range(count)
        ]
        numbers = np.concatenate([piece.reshape(-1) for part in parts for piece in (part[:, 0], part[:, 1:])])
    return {"W": np.concatenate(blocks).view(np.uint32), "P": numbers.reshape(-1)}


def _access(site: Matched) -> Access:
    layer: Words = site.analysis
    outputs = len(layer.bias)
    return product_access(site, {"W": (outputs * layer.fours,), "P": (outputs * layer.stored,)}, 1)


def _match(site: Site) -> Words | str:
    layer = words_of(site)
    if isinstance(layer, str):
        return layer
    most = _scratch(layer)
    return f"needs {most} bytes of scratch, more than {SCRATCH_LIMIT_BYTES}" if most > SCRATCH_LIMIT_BYTES else layer


def _scratch(layer: Words) -> int:
    return 0 if layer.direct else 8 * layer.fours


def _instructions(tile: TileShape) -> float:
    """Executed instructions."""
    layer: Words = tile.site.analysis
    rows = rows_of(tile)
    gathered = 0.0 if layer.direct else 2.6 * layer.fours + 45 * rows.runs + 40
    chunks = ceil_div(layer.fours, CHUNK) if layer.wide else 1
    each = (60 if layer.wide and not layer.shifted else 30 if layer.wide else 14) + 4
    computed = sum(
        count * (layer.fours * (2.5 + 4 * size) + chunks * (30 + 2 * size) + each * size + 25)
        for _, count, size in channel_runs(len(layer.bias))
    )
    return rows.batches * rows.pixels * (gathered + computed + 30)


def described(site: Matched) -> Mapping[str, object]:
    layer: Words = site.analysis
    facts: dict[str, object] = {"channels": len(layer.bias), "rounding": layer.requant.rounding.name}
    return {"accumulator_bits": 64 if layer.wide else 32, "requant": facts}


def _values(call: Call) -> Mapping[str, object]:
    layer: Words = call.site.analysis
    low, high = layer.requant.low, layer.requant.high
    form = "shifted" if layer.shifted else "exact"
    kind = f"{form}{'_wide' * layer.wide}{'_direct' * layer.direct}"
    runs = channel_runs(len(layer.bias))
    name = f"tw_dsp_words_{form}_from_{low}" if layer.inline else "tw_dsp_words_products"
    name = name.replace("-", "m")
    signature = "_".join(f"{count}x{size}" for _, count, size in runs)
    return {
        "function": f"tw_dsp_words_{kind}_{signature}_{low}_{high}".replace("-", "m"),
        "blocks": [(first, count, size, f"{name}_{size}") for first, count, size in runs],
        "inline": layer.inline,
        "direct": layer.direct,
        "wide": layer.wide,
        "shifted": layer.shifted,
        "low": low,
        "high": high,
        "stored": layer.stored,
        "chunk": CHUNK,
        "fields": _fields(layer, call),
        "x": call.operands["X" if call.site.node.op == "QConv" else "A"],
        "column": f"(int16_t *)(void *){call.operands['scratch']}" if "scratch" in call.operands else "(int16_t *)0",
        "batches": layer.rows.batches,
        "x_image": layer.rows.width * layer.rows.height * layer.rows.x_step,
        "y_image": layer.rows.pixels * layer.rows.y_step,
    }


def _fields(layer: Words, call: Call) -> Mapping[str, object]:
    return {
        **fields(layer.rows, call),
        "pad": layer.pad,
        "fours": layer.fours,
        "zero_point": layer.requant.zero_point,
    }


_PRODUCTS = c_template("${products}", "dsp_words_products.c.mako")
_BLOCK = c_template("${block}", "dsp_words_block.c.mako")
_LAYER = c_template("${function}", "dsp_words.c.mako")
CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_dsp_words){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, ${x}${at(x_image)}, ${W}, ${P}, ${Y}${at(y_image)}, ${column});"""


def _source(values: Mapping[str, Any]) -> CodeFragments:
    sizes = [(size, name) for _, _, size, name in values["blocks"]]
    if not values["inline"]:
        return (*each_of(_PRODUCTS, [{"products": name, "size": size} for size, name in sizes]), _LAYER)
    ways = (True, False) if values["direct"] else (True,)
    shapes = [
        {"block": f"{name}_{'aligned' if way else 'any'}", "size": size, "aligned": way}
        for size, name in sizes
        for way in ways
    ]
    return (*each_of(_BLOCK, shapes), _LAYER)


def _kernel(op: str, name: str) -> Kernel:
    return Kernel(
        name=name,
        op=op,
        target="cortex-m",
        engine="dsp",
        match=_match,
        access=_access,
        requires=product_layouts,
        pack=_pack,
        scratch_bytes=lambda tile: _scratch(tile.site.analysis),
        instructions=_instructions,
        describe=described,
        values=_values,
        source=_source,
        call=CALL,
        includes=("<stdint.h>", "<string.h>"),
        roundings=("onnx", "multiply-shift"),
    )


KERNELS = (_kernel("QConv", "cortex-m.dsp.qconv_words"), _kernel("QGemm", "cortex-m.dsp.qgemm_words"))
