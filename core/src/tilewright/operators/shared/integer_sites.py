"""Knows what the sites of integer operators have in common: types of 8 and 16 bits, zero points, ranges.
Does not know any operator.

Optional attributes that any integer operator may carry: `output_type` (without it a requantisation to 8 bits that
reaches below 0 makes i8, one that reaches above 127 makes u8, and any other keeps the type of the first input), and
`x_range` (lowest, highest value the first input can have, where its producer clamps it).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Node, Site
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Integers = npt.NDArray[np.int64]

_WEIGHTS = {"QConv": (0, "w_zero_point"), "QGemm": (-1, "b_zero_point")}  # axis of output channels, their zero points
BYTE_TYPES = (DType.I8, DType.U8)
VALUE_TYPES = (*BYTE_TYPES, DType.I16, DType.U16)
BIAS_TYPES = (DType.I32, DType.I64)


def output_dtype(site: Site, low: int, high: int) -> DType:
    """The type of a result between `low` and `high`; see the module's text."""
    named = site.node.attributes.get("output_type")
    if isinstance(named, str):
        return DType(named)
    if low < 0:
        return DType.I8
    return DType.U8 if high > 127 else site.input(0).dtype


def requant_dtype(site: Site) -> DType:
    """The output type that the attribute `requant` implies."""
    requant = site.node.requant()
    return output_dtype(site, requant.low, requant.high)


def zero_points(node: Node, name: str) -> tuple[int, ...]:
    """A zero-point attribute as a tuple, whether it holds one int or several; (0,) where absent."""
    value = node.attributes.get(name, 0)
    return (value,) if isinstance(value, int) else node.integers(name)


def input_range(site: Site, index: int = 0) -> tuple[int, int]:
    """What input `index` can hold: `x_range` for the first, where given, else its type's limits."""
    limits = site.input(index).dtype.limits
    known = site.node.integers("x_range") if index == 0 else ()
    return (max(limits[0], known[0]), min(limits[1], known[1])) if known else limits


def centred(array: Array | None, zero_point: int | Integers = 0) -> Integers:
    """`array - zero_point` in int64."""
    moved: Integers = np.asarray(array).astype(np.int64) - zero_point
    return moved


def centred_weights(node: Node, weights: Array | None) -> Integers:
    """The W of a QConv, or the B of a QGemm, minus its zero points, one or one per output channel; in its own shape."""
    axis, name = _WEIGHTS[node.op]
    zeros = np.asarray(zero_points(node, name), np.int64)
    return np.moveaxis(centred(np.moveaxis(np.asarray(weights), axis, -1), zeros), -1, axis)


def exact_product(left: Integers, right: Integers) -> Integers:
    """Matrix product of centred values of 8 or 16 bits. float64 holds every partial sum exactly: up to 2**19 products
    of two of 16 bits, each sum is below 2**53.
    """
    product: Integers = np.matmul(left.astype(np.float64), right.astype(np.float64)).astype(np.int64)
    return product


def not_bytes(site: Site, *indices: int) -> str | None:
    """Why these inputs or the output are not 8-bit integers, or None."""
    for tensor in (*(site.input(index) for index in indices), site.output):
        if tensor.dtype not in BYTE_TYPES:
            return f"values must be i8 or u8, found {tensor.dtype.value}"
    return None


def not_values(site: Site, *indices: int) -> str | None:
    """Why these inputs or the output are not integers of 8 or 16 bits, or None."""
    for tensor in (*(site.input(index) for index in indices), site.output):
        if tensor.dtype not in VALUE_TYPES:
            return f"values must be integers of 8 or 16 bits, found {tensor.dtype.value}"
    return None


def not_weights(site: Site, weights: int = 1, bias: int = 2) -> str | None:
    """Why constant weights of 8 bits, and a constant bias where there is one, are not such; or None."""
    if site.constant(weights) is None or (site.has_input(bias) and site.constant(bias) is None):
        return "weights and bias must be constants"
    if site.input(weights).dtype not in BYTE_TYPES:
        return f"weights must be i8 or u8, found {site.input(weights).dtype.value}"
    if site.has_input(bias) and site.input(bias).dtype not in BIAS_TYPES:
        return f"the bias must be i32 or i64, found {site.input(bias).dtype.value}"
    return None


def packed_bias(site: Site, index: int = 2) -> Array:
    """A constant bias as kernels store it: 32 bits where they are enough, else 64."""
    bias, limits = np.asarray(site.constant(index)), DType.I32.limits
    fits = not bias.size or (limits[0] <= bias.min() and bias.max() <= limits[1])
    return bias.astype(np.int32 if fits else np.int64)
