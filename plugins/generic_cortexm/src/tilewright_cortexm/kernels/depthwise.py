"""Knows depthwise convolutions (one filter per channel) in one form for all instruction sets.
Does not know instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import DType, Requant, RequantForm, Site, Windows, sum_bounds, sum_requant, windows_of
from tilewright_cortexm.kernels.products import BYTES, two_spatial_axes, zero_points

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Depthwise:
    """`y = requant(bias + sum(weights * x))` in every channel, zero points inside."""

    windows: Windows
    batches: int
    channels: int
    width: int
    height: int
    out_width: int
    out_height: int
    weights: Integers  # [channels, kernel rows, kernel columns]
    bias: Integers  # [channels]
    pad: int  # raw value that positions outside have
    requant: Requant
    form: RequantForm


def refused(site: Site) -> str | None:
    """Why a QConv is not one of these, or None. Each kernel adds its own limits."""
    x, w = site.input(0), site.input(1)
    group = site.node.integer("group", 1)
    if group == 1 or group != x.shape[1] or w.shape[0] != group:
        return "is no depthwise convolution with one output per channel"
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "W and B must be constants"
    if x.dtype not in BYTES or w.dtype not in BYTES or site.output.dtype not in BYTES:
        return "values and weights must be i8 or u8"
    if site.has_input(2) and site.input(2).dtype is not DType.I32:
        return "B must be i32"
    if len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    if 0 in x.shape or 0 in site.output.shape:
        return "has no elements"
    bits = sum_bounds(site).bits
    if bits > 32:
        return f"the accumulator needs {bits} bits; this kernel has 32"
    layer = depthwise(site)
    if np.abs(layer.bias).max() >= 2**31:
        return "the bias, with the zero points in it, needs more than 32 bits"
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    return None


def depthwise(site: Site) -> Depthwise:
    """The layer in this form."""
    windows = two_spatial_axes(windows_of(site.node))
    batches, channels, *spatial = site.input(0).shape
    zero = site.node.integer("x_zero_point")
    weights = np.asarray(site.constant(1)).astype(np.int64).reshape(channels, *windows.kernel)
    weights = weights - zero_points(site, "w_zero_point").reshape(-1, 1, 1)
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(channels, np.int64)
    out = site.output.shape[2:]
    return Depthwise(
        windows=windows,
        batches=batches,
        channels=channels,
        width=spatial[-1],
        height=spatial[0] if len(spatial) > 1 else 1,
        out_width=out[-1],
        out_height=out[0] if len(out) > 1 else 1,
        weights=weights,
        bias=bias - zero * weights.sum(axis=(1, 2)),
        pad=site.node.integer("pad_value", zero),
        requant=site.node.requant(),
        form=sum_requant(site),
    )
