"""Knows layers that are dot products with constant weights, QConv with one group and QGemm, in one form.
Does not know instructions: how the values are packed is each instruction set's own matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api import (
    AccumulatorBounds,
    DType,
    Requant,
    RequantForm,
    Site,
    Windows,
    sum_bounds,
    sum_requant,
    windows_of,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

BYTES = (DType.I8, DType.U8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Where the factors of one output pixel lie in a channels-last image: `row_taps * column_runs` runs of bytes."""

    batches: int
    width: int
    height: int
    channels: int
    out_width: int
    pixels: int
    outputs: int
    row_taps: int
    column_runs: int
    run_taps: int
    row_stride: int = 1
    column_stride: int = 1
    row_dilation: int = 1
    column_dilation: int = 1
    top: int = 0
    left: int = 0
    padded: bool = False

    @property
    def runs(self) -> int:
        """Runs of one pixel."""
        return self.row_taps * self.column_runs

    @property
    def length(self) -> int:
        """Values in a run."""
        return self.run_taps * self.channels


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored, weights fit int8."""

    rows: Rows
    weights: Integers  # [outputs, runs, length]
    bias: Integers  # [outputs]
    pad: int  # raw value that positions outside have
    requant: Requant
    bounds: AccumulatorBounds
    form: RequantForm


def refused(site: Site) -> str | None:
    """Why a layer is none of these, or None. Each kernel adds its own limits."""
    x, w = site.input(0), site.input(1)
    if site.constant(1) is None or (site.has_input(2) and site.constant(2) is None):
        return "weights and bias must be constants"
    if x.dtype not in BYTES or w.dtype not in BYTES or site.output.dtype not in BYTES:
        return "values and weights must be i8 or u8"
    if site.has_input(2) and site.input(2).dtype is not DType.I32:
        return "the bias must be i32"
    if site.node.op == "QConv" and site.node.integer("group", 1) != 1:
        return "has more than one group"
    if site.node.op == "QConv" and len(x.shape) not in (3, 4):
        return f"has {len(x.shape) - 2} spatial axes; 1 and 2 are supported"
    if 0 in x.shape or 0 in site.output.shape:
        return "has no elements"
    return _too_wide(site)


def _too_wide(site: Site) -> str | None:
    layer = products(site)
    if layer.bounds.bits > 32:
        return f"the accumulator needs {layer.bounds.bits} bits; this kernel has 32"
    if np.abs(layer.bias).max() >= 2**31:
        return "the bias, with the zero points in it, needs more than 32 bits"
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    return None


def products(site: Site) -> Products:
    """The layer in this form."""
    conv = site.node.op == "QConv"
    x_zero = site.node.integer("x_zero_point" if conv else "a_zero_point")
    weights = _conv_weights(site) if conv else _gemm_weights(site)
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(len(weights), np.int64)
    return Products(
        rows=_conv_rows(site) if conv else _gemm_rows(site),
        weights=weights,
        bias=bias - x_zero * weights.sum(axis=(1, 2)),
        pad=site.node.integer("pad_value", x_zero) if conv else 0,
        requant=site.node.requant(),
        bounds=sum_bounds(site),
        form=sum_requant(site),
    )


def zero_points(site: Site, name: str) -> Integers:
    """A zero-point attribute, whether it holds one int or several; 0 where absent."""
    value = site.node.attributes.get(name, 0)
    return np.asarray((value,) if isinstance(value, int) else site.node.integers(name), np.int64)


def _conv_weights(site: Site) -> Integers:
    zeros = zero_points(site, "w_zero_point")
    stored = np.asarray(site.constant(1)).astype(np.int64)
    centred = stored - zeros.reshape(-1, *(1,) * (stored.ndim - 1))
    return np.moveaxis(centred, 1, -1).reshape(len(centred), _conv_rows(site).runs, -1)


def _gemm_weights(site: Site) -> Integers:
    centred = np.asarray(site.constant(1)).astype(np.int64) - zero_points(site, "b_zero_point")
    return centred.T[:, None, :]


def two_spatial_axes(windows: Windows) -> Windows:
    """The same windows with one row, where there is only one axis."""
    if windows.rank == 2:
        return windows
    return Windows(
        kernel=(1, *windows.kernel), strides=(1, *windows.strides), dilations=(1, *windows.dilations),
        before=(0, *windows.before), after=(0, *windows.after),
    )  # fmt: skip


def _conv_rows(site: Site) -> Rows:
    windows = two_spatial_axes(windows_of(site.node))
    batches, channels, *spatial = site.input(0).shape
    out = site.output.shape[2:]
    joined = windows.dilations[1] == 1
    return Rows(
        batches=batches,
        width=spatial[-1],
        height=spatial[0] if len(spatial) > 1 else 1,
        channels=channels,
        out_width=out[-1],
        pixels=int(np.prod(out)),
        outputs=site.output.shape[1],
        row_taps=windows.kernel[0],
        column_runs=1 if joined else windows.kernel[1],
        run_taps=windows.kernel[1] if joined else 1,
        row_stride=windows.strides[0],
        column_stride=windows.strides[1],
        row_dilation=windows.dilations[0],
        column_dilation=windows.dilations[1],
        top=windows.before[0],
        left=windows.before[1],
        padded=any((*windows.before, *windows.after)),
    )


def _gemm_rows(site: Site) -> Rows:
    *lead, depth = site.input(0).shape
    count = int(np.prod(lead))
    return Rows(
        batches=1, width=count, height=1, channels=depth, out_width=count, pixels=count,
        outputs=site.output.shape[-1], row_taps=1, column_runs=1, run_taps=1,
    )  # fmt: skip
