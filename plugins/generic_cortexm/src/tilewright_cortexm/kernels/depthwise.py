"""Knows depthwise convolutions (one filter per channel, or several) in one form for all instruction sets.
Does not know instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import Requant, Site
from tilewright.api.kernel import (
    AccumulatorBounds,
    Call,
    RequantForm,
    Windows,
    centred_weights,
    refused_products,
    sum_bounds,
    windows_of,
)
from tilewright.api.operator import Access
from tilewright_cortexm.kernels.row_tiles import image_access, row_fields
from tilewright_cortexm.kernels.twice import formula_form

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Depthwise:
    """`y = requant(bias + sum(weights * x))` in every channel, zero points inside."""

    windows: Windows
    batches: int
    channels: int  # of the result
    width: int
    height: int
    out_width: int
    out_height: int
    weights: Integers  # [channels, kernel rows, kernel columns]
    bias: Integers  # [channels]
    pad: int  # raw value that positions outside have
    requant: Requant
    form: RequantForm | None  # of `onnx`
    bounds: AccumulatorBounds
    turned: bool = False  # whether rows here are columns of the image, and columns its rows
    multiplier: int = 1  # channels of the result for each of x

    @property
    def taps(self) -> int:
        """Positions of a window."""
        return self.windows.kernel[0] * self.windows.kernel[1]

    @property
    def several(self) -> str:
        """Part of C names: how many channels of the result one of x has, where it has several."""
        return f"_of{self.multiplier}" if self.multiplier > 1 else ""

    @property
    def x_channels(self) -> int:
        """Channels of x."""
        return self.channels // self.multiplier

    @property
    def steps(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Bytes from row to row and from column to column: of x, and of y."""
        if self.turned:
            of_x = (self.x_channels, self.height * self.x_channels)
            of_y = (self.channels, self.out_height * self.channels)
        else:
            of_x = (self.width * self.x_channels, self.x_channels)
            of_y = (self.out_width * self.channels, self.channels)
        return of_x, of_y

    @property
    def edges(self) -> int:
        """Pixels of the result whose window reaches beyond x."""
        windows, inside = self.windows, 1
        for axis, (extent, outputs) in enumerate(((self.height, self.out_height), (self.width, self.out_width))):
            starts = np.arange(outputs) * windows.strides[axis] - windows.before[axis]
            inside *= int(((starts >= 0) & (starts + windows.reach[axis] <= extent)).sum())
        return self.out_height * self.out_width - inside

    def fields(self, call: Call) -> Mapping[str, object]:
        """The geometry, as `tw_depthwise` of depthwise.h is given it."""
        windows = self.windows
        result: dict[str, object] = {
            "width": self.width,
            "height": self.height,
            "channels": self.x_channels,
            "x_row": self.steps[0][0],
            "out_width": self.out_width,
            "out_height": self.out_height,
            "y_row": self.steps[1][0],
            "rows": windows.kernel[0],
            "columns": windows.kernel[1],
            "row_stride": windows.strides[0],
            "column_stride": windows.strides[1],
            "row_dilation": windows.dilations[0],
            "column_dilation": windows.dilations[1],
            "top": windows.before[0],
            "left": windows.before[1],
            "pad": self.pad & 255,
        }
        return {**result, **row_fields(call)}

    def access(self, site: Site, constants: Mapping[str, tuple[int, ...]]) -> Access:
        """By rows and columns."""
        return image_access(site, self.windows, constants)

    def call_values(self) -> dict[str, object]:
        """What the call of every kernel needs."""
        return {
            "batches": self.batches,
            "x_bytes": self.width * self.height * self.x_channels,
            "y_bytes": self.out_width * self.out_height * self.channels,
        }


def turned(layer: Depthwise) -> Depthwise:
    """The same layer, column by column."""
    windows = layer.windows
    return replace(
        layer,
        windows=replace(
            windows,
            kernel=windows.kernel[::-1],
            strides=windows.strides[::-1],
            dilations=windows.dilations[::-1],
            before=windows.before[::-1],
            after=windows.after[::-1],
        ),
        width=layer.height,
        height=layer.width,
        out_width=layer.out_height,
        out_height=layer.out_width,
        weights=layer.weights.swapaxes(1, 2),
        turned=not layer.turned,
    )


# `numbers` follow the geometry: what a kernel has of its own.
CALL = """\
% if batches > 1:
for (int32_t n = 0; n < ${batches}; ++n)
% endif
<% at = lambda size: f" + n * {size}" if batches > 1 else "" %>\\
${function}((tw_depthwise){
% for name, value in fields.items():
    .${name} = ${value},
% endfor
}, (const uint8_t *)${X}${at(x_bytes)}, ${W}, ${P}, (uint8_t *)${Y}${at(y_bytes)}, (void *)${scratch}, ${numbers});"""


def depthwise(site: Site, multipliers: tuple[int, ...] = (1,)) -> Depthwise | str:
    """The layer in this form, or why it has none. Each kernel adds its own limits; `multipliers` are how many channels
    of the result it computes of one of x.
    """
    reason = _refused(site, multipliers)
    if reason:
        return reason
    layer = _depthwise(site)
    return _out_of_range(site, layer) or layer


def _refused(site: Site, multipliers: tuple[int, ...]) -> str | None:
    group, outputs = site.node.integer("group", 1), site.input(1).shape[0]
    if group == 1 or group != site.input(0).shape[1] or outputs not in [group * each for each in multipliers]:
        wanted = "one output" if multipliers == (1,) else f"{' or '.join(map(str, multipliers))} outputs"
        return f"is no depthwise convolution with {wanted} per channel"
    if (reason := refused_products(site)) is not None:
        return reason
    bits = sum_bounds(site).bits
    return f"the accumulator needs {bits} bits; this kernel has 32" if bits > 32 else None


def _out_of_range(site: Site, layer: Depthwise) -> str | None:
    low, high = site.input(0).dtype.limits
    if not low <= layer.pad <= high:
        return f"positions outside count for {layer.pad}, which {site.input(0).dtype.value} does not hold"
    if np.abs(layer.bias).max() >= 2**31:
        return "the bias, with the zero points in it, needs more than 32 bits"
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    return None


def _depthwise(site: Site) -> Depthwise:
    windows = windows_of(site.node).two_axes
    batches, x_channels, *spatial = site.input(0).shape
    channels = site.output.shape[1]
    zero = site.node.integer("x_zero_point")
    weights = centred_weights(site).reshape(channels, *windows.kernel)
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
        form=formula_form(site),
        bounds=sum_bounds(site),
        multiplier=channels // x_channels,
    )
