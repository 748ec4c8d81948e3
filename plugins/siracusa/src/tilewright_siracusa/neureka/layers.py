"""Knows which layers N-EUREKA computes, and what of their arithmetic is the engine's and what the cores'.
Does not know jobs, nor how weights are packed.

The engine's sums are of what is stored: zero points and bias are one number for each channel. Outside of an image it
has zeros. Where a layer has something else there, sums at the border lack what that would have given: the cores add it,
by which taps are outside. The engine's own scaling has no place for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, MultiplyShift, Requant, Site
from tilewright.api.kernel import ShiftUnit, UnitProof, refused_products, sum_requant
from tilewright_siracusa.kernels.layers import ProductLayer, wide_products_of
from tilewright_siracusa.neureka.packing import BITS, offset_and_bits
from tilewright_siracusa.neureka.timing import Mode

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

SIDE = 3  # of windows that are no points
MOST_PAD = 1  # rows and columns on a side: what is outside of a window is then told by two bits along each axis
_UNIT = ShiftUnit(
    multiplier_bits=8, addend_bits=32, largest_shift=31, rounding="floor", bits=32, zero_point_behind=False
)
_UNITS = ((8, _UNIT), (32, replace(_UNIT, multiplier_bits=31)))
_BYTES = {DType.I8: (-128, 127), DType.U8: (0, 255)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """`(sum * multipliers[c] + addends[c]) >> shift`, clipped to the type: what the engine makes of its own sums."""

    bits: int  # of the multipliers: 8 or 32
    multipliers: tuple[int, ...]
    addends: tuple[int, ...]
    shift: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineLayer:
    """A layer as the engine computes it. `biases` has a row for each way in which a window leaves the image."""

    mode: Mode
    stride: int
    layer: ProductLayer
    extents: tuple[int, int]  # of the image
    biases: Integers  # [ways, outputs]
    offset: int  # of stored weights
    bits: int  # of each of them
    scaling: Scaling | None = None  # None: the cores requantise
    weight_memory: bool = False  # where weights are; else in L1

    @property
    def side(self) -> int:
        """Taps of a window along an axis."""
        return 1 if self.mode == "points" else SIDE

    @property
    def picked(self) -> bool:
        """Whether the engine computes more than is wanted: its 3x3 windows have a stride of 1."""
        return self.stride > 1 and self.mode != "points"

    def job_extent(self, outputs: int) -> int:
        """Rows (or columns) that the engine computes for so many."""
        return self.stride * (outputs - 1) + 1 if self.picked else outputs


def conv_layer(site: Site) -> EngineLayer | str:
    """A QConv with one group and 3x3 windows, or why the engine has no job for it."""
    return _grouped_once(site, "taps", "is 1x1")


def point_layer(site: Site) -> EngineLayer | str:
    """The same with 1x1 windows."""
    return _grouped_once(site, "points", "is 3x3")


def _grouped_once(site: Site, mode: Mode, otherwise: str) -> EngineLayer | str:
    if site.node.integer("group", 1) != 1:
        return "has more than one group"
    result = _image(site)
    return result if isinstance(result, str) or result.mode == mode else otherwise


def depthwise_layer(site: Site) -> EngineLayer | str:
    """A QConv with one 3x3 filter for each channel."""
    group = site.node.integer("group", 1)
    if group == 1 or group != site.input(0).shape[1] or site.input(1).shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    result = _image(site)
    if isinstance(result, str):
        return result
    return replace(result, mode="channels") if result.mode == "taps" else "is depthwise, and not 3x3"


def dense_layer(site: Site) -> EngineLayer | str:
    """A QGemm: a 1x1 convolution, with a pixel for each row of A."""
    rank = len(site.input(0).shape)
    if rank != 2:
        return f"A has {rank} axes, not 2"
    layer = refused_products(site) or wide_products_of(site)
    if isinstance(layer, str):
        return layer
    return _stored("points", 1, layer, (1, site.input(0).shape[0]))


def scaled_by_engine(site: Site, result: EngineLayer | str, *, picked: bool = False) -> EngineLayer | str:
    """The same where the engine requantises: its multiplication and shift are proved to give the layer's results. With
    `picked` those of which the cores then pick every second, along both axes.
    """
    if isinstance(result, str):
        return result
    layer, requant = result.layer, result.layer.requant
    if result.picked != picked:
        return "has no stride" if picked else "has a stride: the cores pick every second of the engine's results"
    if layer.padded and layer.pad:
        return f"positions outside of the image hold {layer.pad}; the engine has 0 there"
    if (requant.low, requant.high) != _BYTES[site.output.dtype]:
        return f"results are limited to {requant.low}..{requant.high}; the engine limits them to the type's range"
    reasons = []
    for bits, unit in _UNITS:
        proof = sum_requant(site, unit)
        scaling = _scaling(site, layer, bits, proof) if proof.whole else next(filter(None, proof.reasons))
        if isinstance(scaling, Scaling):
            return replace(result, scaling=scaling)
        reasons.append(scaling)
    return f"not proved on the engine's multiplier: {reasons[-1]}"


def _scaling(site: Site, layer: ProductLayer, bits: int, proof: UnitProof) -> Scaling | str:
    """With the layer's bias behind the product, which fits 32 bits: it does not matter where it would be cut."""
    count = layer.outputs
    multipliers, own = (np.resize(np.asarray(values, np.int64), count) for values in (proof.multipliers, proof.addends))
    addends = own + layer.bias * multipliers
    low, high = _BYTES[site.input(0).dtype]
    weights = layer.weights.reshape(count, -1).astype(np.int64)
    above, below = np.maximum(weights, 0).sum(axis=1), np.minimum(weights, 0).sum(axis=1)
    least = (above * min(low, 0) + below * max(high, 0)) * multipliers
    most = (above * max(high, 0) + below * min(low, 0)) * multipliers
    if min(least.min(), addends.min()) < -(2**31) or max(most.max(), addends.max()) >= 2**31:
        return "a product or a bias leaves 32 bits"
    return Scaling(
        bits=bits,
        multipliers=tuple(map(int, multipliers)),
        addends=tuple(map(int, addends)),
        shift=proof.shifts[0],
    )


def _image(site: Site) -> EngineLayer | str:
    shape = site.input(0).shape
    if len(shape) != 4 or shape[0] != 1:
        return "is no single image of two axes"
    layer = refused_products(site) or wide_products_of(site)
    if isinstance(layer, str):
        return layer
    windows = layer.windows
    if windows.kernel not in ((1, 1), (SIDE, SIDE)):
        return f"windows are {windows.kernel[0]}x{windows.kernel[1]}; the engine has 1x1 and 3x3"
    if windows.dilations != (1, 1) or windows.strides not in ((1, 1), (2, 2)):
        return "has dilations, or strides other than 1 and 2"
    mode: Mode = "points" if windows.kernel == (1, 1) else "taps"
    pads = (*windows.before, *_after(site, layer))
    if max(pads) > (0 if mode == "points" else MOST_PAD):
        return f"has {max(pads)} positions outside of the image on a side"
    return _stored(mode, windows.strides[0], layer, (shape[2], shape[3]))


def _stored(mode: Mode, stride: int, layer: ProductLayer, extents: tuple[int, int]) -> EngineLayer | str:
    """With weights as the engine has them, where they fit."""
    stored = offset_and_bits(layer.weights)
    if stored is None:
        return f"weights minus their zero points are {layer.weights.min()}..{layer.weights.max()}, beyond 8 bits"
    result = EngineLayer(
        mode=mode,
        stride=stride,
        layer=layer,
        extents=extents,
        biases=_biases(layer) if layer.padded and layer.pad else layer.bias[None],
        offset=stored[0],
        bits=BITS if mode == "points" else stored[1],
    )
    return _finishable(result)


def _after(site: Site, layer: ProductLayer) -> tuple[int, int]:
    """Positions that windows read below and beside the image."""
    windows, (x, y) = layer.windows, (site.input(0).shape[2:], site.output.shape[2:])
    ends = [
        (outputs - 1) * stride - before + taps - extent
        for outputs, stride, before, taps, extent in zip(
            y, windows.strides, windows.before, windows.kernel, x, strict=True
        )
    ]
    return max(ends[0], 0), max(ends[1], 0)


def _finishable(layer: EngineLayer) -> EngineLayer | str:
    """Whether the cores can requantise what the engine leaves: by the formula of `onnx`, or by a shift in 32 bits."""
    rounding = layer.layer.requant.rounding
    if not isinstance(rounding, MultiplyShift):
        return layer
    if rounding.bits != 32 or rounding.overflow != "wraps" or rounding.rounding == "half-even":
        return "its shift is not in 32 bits that wrap around, or takes halves to even"
    return layer if len(set(rounding.shift)) == 1 else "has a shift for each channel"


def _biases(layer: ProductLayer) -> Integers:
    """For each of 4 ways along rows times 4 along columns (bit 0: the first tap is outside, bit 1: the last one), the
    bias and what taps outside give.
    """
    weights = layer.weights.astype(np.int64).sum(axis=3)
    ways = [[bool(way & 1), *[False] * (SIDE - 2), bool(way & 2)] for way in range(4)]
    rows = []
    for down in ways:
        for across in ways:
            outside = np.logical_or(np.array(down)[:, None], np.array(across)[None, :])
            rows.append(layer.bias + layer.pad * (weights * outside).sum(axis=(1, 2)))
    return np.stack(rows)


def requant_words(requant: Requant, biases: Integers) -> Integers:
    """What the cores requantise with, [outputs, 1 + ways], modulo 2**32: the bits of a float, and `biases` [ways,
    outputs]; or a multiplier, and what is added to products: the biases, multiplied, with the addend.
    """
    rounding, outputs = requant.rounding, biases.shape[1]
    if not isinstance(rounding, MultiplyShift):
        scales = np.asarray(requant.scales(outputs), np.float32).view(np.int32).astype(np.int64)
        return np.concatenate([scales[None], biases]).T % 2**32
    half = (1 << rounding.shift[0] >> 1) if rounding.rounding == "half-up" else 0
    factors, addends = (
        np.resize(np.asarray(values, np.int64), outputs) for values in (rounding.multiplier, rounding.addend)
    )
    return np.concatenate([factors[None], biases * factors + addends + half]).T % 2**32
