"""Knows which convolutions and products of bytes are sums that float32 holds exactly, and their numbers then.
Does not know instructions, nor how a layer is cut.

Whatever is summed, in whatever order, stays below 2^24; a bias is added last, and rounds as `byte_rounding` has proved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import align_up
from tilewright.api.graph import Site
from tilewright.api.kernel import Windows, centred_weights, refused_products, sum_bounds, windows_of
from tilewright_snitch.kernels.byte_rounding import float_parameters
from tilewright_snitch.kernels.integer_layers import ALONE, MOST_LEADING

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Integers = npt.NDArray[np.int64]

EXACT = 1 << 24  # the integers up to here are all float32
GRAIN = 4  # channels of a part are a multiple: two words of a stream


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteLayer:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored."""

    windows: Windows  # over the axes of the layer
    weights: Floats  # [outputs, taps, wide], or [taps, wide] where each channel is its own output
    parameters: Floats  # biases, and scales: [2, outputs]
    pad: int  # what positions outside hold, as stored
    channels: int  # of x
    depthwise: bool

    @property
    def wide(self) -> int:
        """Channels, and what fills them up: a register holds two."""
        return align_up(self.channels, 2)

    @property
    def outputs(self) -> int:
        """Of the whole layer."""
        return len(self.parameters[0])

    @property
    def cut(self) -> bool:
        """Whether channels may be cut: convolutions then compute their sums in parts."""
        return self.channels % (2 if self.depthwise else GRAIN) == 0


def byte_conv(site: Site) -> ByteLayer | str:
    """A QConv without groups in this form, or why it has none."""
    return _refused(site) or _no_conv(site) or _layer(site, depthwise=False)


def byte_depthwise(site: Site) -> ByteLayer | str:
    """A QConv of which every channel is an output by itself, or why it is none."""
    return _refused(site) or _no_depthwise(site) or _layer(site, depthwise=True)


def byte_products(site: Site) -> ByteLayer | str:
    """A QGemm in this form, each row a window of one tap, or why it has none."""
    leading = len(site.input(0).shape) - 1
    if leading > MOST_LEADING:
        return f"A has {leading} axes of rows; {MOST_LEADING} are supported"
    return _refused(site) or _layer(site, depthwise=False)


def _refused(site: Site) -> str | None:
    if (reason := refused_products(site)) is not None:
        return reason
    low, high = site.input(0).dtype.limits
    if not low <= _pad(site) <= high:
        return f"positions outside count for {_pad(site)}, which {site.input(0).dtype.value} does not hold"
    reach = _reach(site)
    return f"sums reach {reach}; float32 is exact below {EXACT}" if reach >= EXACT else None


def _no_conv(site: Site) -> str | None:
    windows = windows_of(site.node)
    if site.node.integer("group", 1) != 1:
        return "has more than one group"
    if windows.kernel[-1] > 1 and windows.dilations[-1] > 1:
        return "taps of a row are no neighbours"
    wide = align_up(site.input(1).shape[1], 2) * int(np.prod(windows.kernel))
    return None if wide >= 2 * GRAIN else f"sums have {wide} products; a stream needs {2 * GRAIN}"


def _no_depthwise(site: Site) -> str | None:
    group = site.node.integer("group", 1)
    each = group == site.input(0).shape[1] == site.input(1).shape[0]
    return None if each and group > 1 else "is no depthwise convolution with one output per channel"


def _centred(site: Site) -> Integers:
    """[outputs, elements of a window]"""
    centred: Integers = centred_weights(site)
    return centred.T if site.node.op == "QGemm" else centred.reshape(len(centred), -1)


def _pad(site: Site) -> int:
    return site.node.integer("pad_value", _zero(site))


def _zero(site: Site) -> int:
    """Of x."""
    return site.node.integer("a_zero_point" if site.node.op == "QGemm" else "x_zero_point")


def _bias(site: Site) -> Integers:
    """With the zero point of x in it."""
    sums = _centred(site).sum(axis=1)
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros_like(sums)
    moved: Integers = bias - _zero(site) * sums
    return moved


def _reach(site: Site) -> int:
    """The largest magnitude of a part of any sum."""
    low, high = (int(limit) for limit in site.input(0).dtype.limits)
    least, most = _centred(site) * low, _centred(site) * high
    above = np.maximum(np.maximum(least, most), 0).sum(axis=1)
    below = np.minimum(np.minimum(least, most), 0).sum(axis=1)
    return int(max(above.max(), -below.min()))


def _layer(site: Site, *, depthwise: bool) -> ByteLayer | str:
    parameters = float_parameters(site.node.requant(), _bias(site), sum_bounds(site))
    if isinstance(parameters, str):
        return parameters
    gemm = site.node.op == "QGemm"
    centred = centred_weights(site).T if gemm else centred_weights(site)
    channels = site.input(0).shape[-1 if gemm else 1]
    outputs, wide = len(centred), align_up(channels, 2)
    rows: Integers = np.moveaxis(centred, 1, -1).reshape(
        outputs, -1, centred.shape[1]
    )  # [outputs, taps, channels of a group]
    if depthwise:
        rows = np.moveaxis(rows, 0, -1).reshape(rows.shape[1], outputs)
    weights = np.zeros((*rows.shape[:-1], wide), np.float32)
    weights[..., : rows.shape[-1]] = rows
    return ByteLayer(
        windows=ALONE if gemm else windows_of(site.node),
        weights=weights,
        parameters=parameters,
        pad=_pad(site),
        channels=channels,
        depthwise=depthwise,
    )
