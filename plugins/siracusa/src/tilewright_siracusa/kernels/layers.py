"""Knows the integer layers that are sums of products with constant weights, in one form: QConv and QGemm.
Does not know instructions, nor how weights are stored for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import ceil_div
from tilewright.api.graph import DType, Requant, Site
from tilewright.api.kernel import AccumulatorBounds, Windows, centred_weights, refused_products, sum_bounds, windows_of
from tilewright_siracusa.kernels.shifts import shift_words

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

BYTES = (DType.I8, DType.U8)
MOST_TAPS = 32  # along one axis: one bit for each
BLOCK = 4  # channels computed together
ROUNDINGS = ("onnx", "multiply-shift")  # how sums of products are finished


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductLayer:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored."""

    windows: Windows  # over two axes
    weights: Integers  # [outputs, row taps, column taps, inputs of one output]
    bias: Integers  # [outputs]
    pad: int  # what positions outside hold, as stored
    requant: Requant
    reach: float  # the largest magnitude of an accumulator times its scale
    padded: bool
    scales: Integers  # [outputs], what finishes a sum: the bits of a float32, or the word of `shifts`

    @property
    def outputs(self) -> int:
        """Channels."""
        return int(self.weights.shape[0])

    @property
    def blocks(self) -> int:
        """Blocks of channels, the last one filled up."""
        return ceil_div(self.outputs, BLOCK)


def layer_of(site: Site) -> ProductLayer | str:
    """A QConv or QGemm in this form, or why it has none. Each kernel adds its own limits."""
    layer = sums_of(site)
    words = layer if isinstance(layer, str) else shift_words(layer.requant, sum_bounds(site))
    if isinstance(layer, str) or words is None:
        return layer
    if isinstance(words, str):
        return words
    return replace(layer, bias=wrapped(layer.bias + words.moved), scales=words.words)


def sums_of(site: Site) -> ProductLayer | str:
    """The same for who finishes sums in a way of its own: biases are the layer's."""
    return refused_products(site) or products_of(site)


def products_of(site: Site) -> ProductLayer | str:
    """The same whatever its values are, where weights and bias are constants."""
    layer = wide_products_of(site)
    return layer if isinstance(layer, str) else _out_of_range(layer) or layer


def wide_products_of(site: Site) -> ProductLayer | str:
    """The same for who takes weights beyond a signed byte, and windows of any size."""
    bounds = sum_bounds(site)
    if bounds.bits > 32:
        return f"the accumulator needs {bounds.bits} bits; this kernel has 32"
    return _conv(site, bounds) if site.node.op == "QConv" else _gemm(site, bounds)


def _out_of_range(layer: ProductLayer) -> str | None:
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    if max(layer.windows.kernel) > MOST_TAPS:
        return f"has more than {MOST_TAPS} taps along an axis"
    return None


def bias_and_scale(layer: ProductLayer) -> Array:
    """One row per block: four biases, then what finishes four sums."""
    rows = np.zeros((layer.blocks, 2, BLOCK), np.int64)
    for part, values in enumerate((layer.bias, layer.scales)):
        filled = np.zeros(layer.blocks * BLOCK, np.int64)
        filled[: layer.outputs] = values
        rows[:, part] = filled.reshape(-1, BLOCK)
    return rows.reshape(layer.blocks, -1).astype(np.int32)


def _conv(site: Site, bounds: AccumulatorBounds) -> ProductLayer:
    windows = windows_of(site.node).two_axes
    centred = centred_weights(site)
    outputs, inputs = centred.shape[:2]
    weights = np.moveaxis(centred.reshape(outputs, inputs, *windows.kernel), 1, -1)
    zero = site.node.integer("x_zero_point")
    return ProductLayer(
        windows=windows,
        weights=weights,
        bias=_bias(site, weights, zero),
        pad=site.node.integer("pad_value", zero),
        requant=site.node.requant(),
        reach=_reach(site, bounds),
        scales=_scales(site, outputs),
        padded=any((*windows.before, *windows.after)),
    )


def _gemm(site: Site, bounds: AccumulatorBounds) -> ProductLayer:
    weights = centred_weights(site).T[:, None, None, :]
    return ProductLayer(
        windows=Windows(kernel=(1, 1), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0)),
        weights=weights,
        bias=_bias(site, weights, site.node.integer("a_zero_point")),
        pad=0,
        requant=site.node.requant(),
        reach=_reach(site, bounds),
        scales=_scales(site, len(weights)),
        padded=False,
    )


def _bias(site: Site, weights: Integers, zero: int) -> Integers:
    """With the zero point of x in it, as 32 bits hold it: sums wrap, and their result is known to fit."""
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(len(weights), np.int64)
    return wrapped(bias - zero * weights.sum(axis=(1, 2, 3)))


def wrapped(sums: Integers) -> Integers:
    """As a register of 32 bits has them."""
    wrapped: Integers = sums.astype(np.int32).astype(np.int64)
    return wrapped


def _scales(site: Site, outputs: int) -> Integers:
    """The bits of one float32 for each output."""
    bits: Integers = np.asarray(site.node.requant().scales(outputs), np.float32).view(np.int32).astype(np.int64)
    return bits


def _reach(site: Site, bounds: AccumulatorBounds) -> float:
    largest = np.maximum(np.abs(bounds.lowest), np.abs(bounds.highest))
    return float((largest * np.asarray(site.node.requant().scales(len(largest)))).max())
