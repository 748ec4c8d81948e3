"""Knows the integer layers that are sums of products with constant weights, QConv and QGemm, in one form.
Does not know instructions, nor how weights are stored for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tilewright.api.graph import DType, Site
from tilewright.api.kernel import Call, Windows, centred_weights, refused_products, windows_of

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

BYTES = (DType.I8, DType.U8)
MOST_LEADING = 3  # axes of a fully connected layer's rows
ALONE = Windows(kernel=(1, 1), strides=(1, 1), dilations=(1, 1), before=(0, 0), after=(0, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerLayer:
    """`y = requant(bias + sum(weights * x))`, zero points inside: x is taken as it is stored."""

    windows: Windows  # over two axes
    weights: Integers  # [outputs, elements of a window: row taps, column taps, inputs]
    inputs: int
    bias: Integers  # [outputs]
    pad: int  # what positions outside hold, as stored


def integer_layer(site: Site) -> IntegerLayer | str:
    """A QConv without groups or a QGemm in this form, or why it has none."""
    reason = _refused(site)
    if reason:
        return reason
    layer = _conv(site) if site.node.op == "QConv" else _gemm(site)
    return _out_of_range(site, layer) or layer


def _refused(site: Site) -> str | None:
    if (reason := refused_products(site)) is not None:
        return reason
    if site.node.op == "QConv":
        return "has more than one group" if site.node.integer("group", 1) != 1 else None
    leading = len(site.input(0).shape) - 1
    return f"A has {leading} axes of rows; {MOST_LEADING} are supported" if leading > MOST_LEADING else None


def _out_of_range(site: Site, layer: IntegerLayer) -> str | None:
    """No sum overflows, in whatever order it is made: C leaves open what that would give."""
    low, high = site.input(0).dtype.limits
    if not low <= layer.pad <= high:
        return f"positions outside count for {layer.pad}, which {site.input(0).dtype.value} does not hold"
    if layer.weights.min() < -128 or layer.weights.max() > 127:
        return "weights minus their zero points do not fit 8 bits"
    reach = np.abs(layer.bias) + max(-low, high) * np.abs(layer.weights).sum(axis=1)
    return "sums need more than 32 bits" if reach.max() >= 2**31 else None


def row_fields(call: Call, depth: int) -> dict[str, object]:
    """The fields of tw_sn_windows, see windows.h, where rows of A with so many elements are pixels."""
    a, y = call.operands["A"], call.operands["Y"]
    lead = MOST_LEADING - (len(y.shape) - 1)
    axes = ("batch", "row", "column")
    extents = ("1",) * lead + y.extents[:-1]
    fields: dict[str, object] = dict(zip(("batches", "rows", "columns"), extents, strict=True))
    fields |= {"in_rows": extents[1], "in_columns": extents[2], "channels": depth}
    ones = ("row_taps", "column_taps", "row_stride", "column_stride", "row_dilation", "column_dilation")
    fields |= dict.fromkeys(ones, 1)
    for name, operand in (("x", a), ("y", y)):
        steps = (0,) * lead + operand.strides[:-1]
        fields |= {f"{name}_{axis}": step for axis, step in zip(axes, steps, strict=True)}
    return fields


def _conv(site: Site) -> IntegerLayer:
    centred = centred_weights(site)
    zero = site.node.integer("x_zero_point")
    weights = np.moveaxis(centred, 1, -1).reshape(len(centred), -1)
    return IntegerLayer(
        windows=windows_of(site.node).two_axes,
        weights=weights,
        inputs=centred.shape[1],
        bias=_bias(site, weights, zero),
        pad=site.node.integer("pad_value", zero),
    )


def _gemm(site: Site) -> IntegerLayer:
    weights = centred_weights(site).T
    bias = _bias(site, weights, site.node.integer("a_zero_point"))
    return IntegerLayer(windows=ALONE, weights=weights, inputs=weights.shape[1], bias=bias, pad=0)


def _bias(site: Site, weights: Integers, zero: int) -> Integers:
    """With the zero point of x in it."""
    bias = np.asarray(site.constant(2), np.int64) if site.has_input(2) else np.zeros(len(weights), np.int64)
    moved: Integers = bias - zero * weights.sum(axis=1)
    return moved
