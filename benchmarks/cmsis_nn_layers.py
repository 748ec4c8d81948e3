"""The layers that `cortex_m_layers.py --cmsis-nn` counts beside CMSIS-NN: shapes of published networks and odd ones, of
8 and 16 bits in the arithmetic of TensorFlow Lite Micro, with weights of 4 bits, and of floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cortex_m_layers as integers
import float_layers as floats
import numpy as np
from cortex_m_layers import Layer, drawn, layer, weights

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import DoubleRounding, MultiplyShift, Rational, fixed_multiplier

Size = tuple[int, int]


def compared() -> Iterator[Layer]:
    """All of them, names and all."""
    yield from convolutions()
    yield from depthwise()
    for rows, depth, columns in (
        (1, 64, 10), (1, 640, 128), (1, 128, 128), (1, 128, 8), (1, 8, 128), (1, 128, 640), (1, 1024, 256),
        (1, 1960, 10), (1, 4000, 4), (1, 333, 77), (10, 64, 64),
    ):  # fmt: skip
        yield dense(DType.I8, rows, depth, columns)
    yield from others(DType.I8)
    yield replaced(integers.matmul(4, 32, 16, 32))
    yield replaced(integers.matmul(1, 64, 64, 64))
    yield from narrow()
    yield from wide()
    yield from real()


def convolutions() -> Iterator[Layer]:
    """Of bytes, over all channels or groups of them."""
    for inside, outside, size, stride in (
        (3, 16, 32, 1), (16, 16, 32, 1), (16, 32, 32, 2), (32, 32, 16, 1), (32, 64, 16, 2), (64, 64, 8, 1),
        (3, 8, 96, 2), (3, 32, 48, 2), (1, 16, 28, 1), (13, 19, 16, 1), (4, 4, 20, 1), (128, 128, 4, 1),
    ):  # fmt: skip
        yield conv(DType.I8, inside, outside, (3, 3), (size, size), stride)
    for inside, outside, kernel, size, stride in (
        (3, 16, 7, 32, 2), (16, 16, 5, 14, 1), (8, 16, 5, 28, 2), (1, 8, 5, 28, 1), (6, 16, 5, 14, 1),
    ):  # fmt: skip
        yield conv(DType.I8, inside, outside, (kernel, kernel), (size, size), stride)
    for inside, outside, height, width in (
        (64, 64, 25, 5), (8, 16, 48, 48), (16, 32, 24, 24), (32, 32, 24, 24), (32, 64, 12, 12), (64, 128, 6, 6),
        (128, 128, 6, 6), (128, 256, 3, 3), (256, 256, 3, 3), (128, 24, 8, 8), (24, 144, 10, 10), (16, 96, 14, 14),
        (96, 24, 14, 14), (5, 7, 20, 20), (3, 40, 20, 20), (23, 71, 9, 9),
    ):  # fmt: skip
        yield conv(DType.I8, inside, outside, (1, 1), (height, width))
    yield conv(DType.I8, 16, 32, (1, 1), (32, 32), 2)
    yield conv(DType.I8, 32, 64, (1, 1), (16, 16), 2)
    yield conv(DType.I8, 1, 64, (10, 4), (49, 10), 2)
    for inside, outside, taps, width, stride in ((32, 32, 3, 128, 1), (16, 16, 9, 100, 1), (1, 16, 64, 512, 4)):
        yield conv(DType.I8, inside, outside, (1, taps), (1, width), stride)
    yield conv(DType.I8, 16, 16, (1, 5), (1, 100), dilation=4)
    yield conv(DType.I8, 16, 16, (3, 3), (16, 16), dilation=2)
    for channels, group in ((16, 4), (32, 2), (64, 8)):
        yield conv(DType.I8, channels, channels, (3, 3), (14, 14), group=group)


def depthwise() -> Iterator[Layer]:
    """Of bytes, every channel on its own."""
    yield conv(DType.I8, 64, 64, (3, 3), (25, 5), group=64)
    for channels, size, stride in (
        (8, 48, 1), (16, 48, 2), (32, 24, 1), (32, 24, 2), (64, 12, 1), (64, 12, 2), (128, 6, 1), (128, 6, 2),
        (256, 3, 1), (13, 16, 1), (13, 16, 2), (24, 32, 2), (96, 14, 1), (3, 32, 1),
    ):  # fmt: skip
        yield conv(DType.I8, channels, channels, (3, 3), (size, size), stride, group=channels)
    for channels, kernel, stride in ((24, 5, 1), (24, 5, 2), (15, 5, 1), (16, 7, 1)):
        yield conv(DType.I8, channels, channels, (kernel, kernel), (16, 16), stride, group=channels)
    yield conv(DType.I8, 8, 16, (3, 3), (16, 16), group=8)
    yield conv(DType.I8, 1, 8, (10, 8), (49, 40), 2)
    yield conv(DType.I8, 32, 32, (1, 9), (1, 100), group=32)
    yield conv(DType.I8, 16, 16, (3, 3), (16, 16), group=16, dilation=2)


def narrow() -> Iterator[Layer]:
    """Weights of 4 bits."""
    for inside, outside, taps, size, group in (
        (16, 16, 3, 16, 1),
        (64, 64, 1, 12, 1),
        (32, 32, 3, 8, 1),
        (16, 16, 3, 16, 16),
    ):
        yield conv(DType.I8, inside, outside, (taps, taps), (size, size), group=group, bits=4)
    for depth, columns in ((640, 128), (128, 10), (333, 76)):
        yield dense(DType.I8, 1, depth, columns, bits=4)


def wide() -> Iterator[Layer]:
    """Values of 16 bits, weights of 8."""
    for inside, outside, taps, size, stride, group in (
        (16, 16, 3, 16, 1, 1), (3, 16, 3, 24, 1, 1), (16, 32, 3, 16, 2, 1), (64, 64, 1, 12, 1, 1), (8, 16, 1, 24, 1, 1),
        (23, 71, 1, 9, 1, 1), (8, 16, 5, 14, 1, 1), (64, 64, 3, 12, 1, 64), (32, 32, 3, 16, 2, 32),
        (13, 13, 3, 16, 1, 13), (16, 16, 5, 14, 1, 16),
    ):  # fmt: skip
        yield conv(DType.I16, inside, outside, (taps, taps), (size, size), stride, group=group)
    yield conv(DType.I16, 16, 16, (1, 9), (1, 100))
    yield conv(DType.I16, 32, 32, (1, 9), (1, 100), group=32)
    for rows, depth, columns in ((1, 640, 128), (1, 128, 10), (1, 333, 77), (8, 64, 64)):
        yield dense(DType.I16, rows, depth, columns)
    yield from others(DType.I16)


def real() -> Iterator[Layer]:
    """Floats."""
    for inside, outside, kernel, size, stride, group in (
        (3, 16, (3, 3), 32, 1, 1), (16, 16, (3, 3), 24, 1, 1), (16, 32, (3, 3), 24, 2, 1), (64, 64, (3, 3), 8, 1, 1),
        (64, 64, (1, 1), 10, 1, 1), (8, 16, (1, 1), 24, 1, 1), (23, 71, (1, 1), 9, 1, 1), (16, 32, (1, 1), 24, 2, 1),
        (8, 16, (5, 5), 14, 1, 1), (1, 8, (5, 5), 28, 1, 1), (1, 16, (10, 4), 24, 2, 1), (64, 64, (3, 3), 12, 1, 64),
        (16, 16, (3, 3), 32, 2, 16), (13, 13, (3, 3), 16, 1, 13), (24, 24, (5, 5), 16, 1, 24),
    ):  # fmt: skip
        yield floats.conv(inside, outside, size, kernel=kernel, stride=stride, group=group)
    for rows, depth, columns in ((1, 640, 128), (1, 128, 10), (1, 333, 77), (8, 64, 64)):
        yield floats.gemm(rows, depth, columns)
    yield floats.matmul(32, 32, 32)
    yield floats.pool("MaxPool", 32, 16, 2)
    yield floats.pool("AveragePool", 64, 8, 8)
    for op in ("Add", "Mul"):
        yield floats.pair(op, (1, 16, 16, 16), (1, 16, 16, 16))
    yield floats.one("Clip", (1, 16, 16, 16), {"min": 0.0})
    yield floats.one("Sigmoid", (16, 64))
    yield floats.one("Tanh", (16, 64))
    yield floats.rows("Softmax", 1, 12)
    yield floats.rows("Softmax", 32, 48)


def rounded(dtype: DType, scale: tuple[float, ...], zero: int = 0) -> Requant:
    """As TensorFlow Lite Micro rounds sums of products of these values."""
    low, high = dtype.limits
    if dtype is DType.I8:
        return Requant(scale=scale, zero_point=zero, low=low, high=high, rounding=DoubleRounding())
    numbers = [fixed_multiplier(item) for item in scale]
    cut = tuple(min((multiplier + 2**15) >> 16, 2**15 - 1) for multiplier, _ in numbers)
    rounding = MultiplyShift(multiplier=cut, shift=tuple(15 - exponent for _, exponent in numbers), bits=64)
    return Requant(scale=scale, zero_point=0, low=low, high=high, rounding=rounding)


def scales(dtype: DType, channels: int, depth: int, largest: int) -> tuple[float, ...]:
    """That use the range of the output."""
    values = 74.0 if dtype is DType.I8 else 18900.0
    spread = np.linspace(0.5, 1.5, channels) if channels > 1 else [1.0]
    unit = (40 if dtype is DType.I8 else 10000) / (values * largest * 0.58 * np.sqrt(depth))
    return tuple(float(unit * item) for item in spread)


def same_pads(size: Size, steps: Size, kernel: Size, apart: Size) -> tuple[int, ...]:
    """Padding of TensorFlow's SAME: the odd one comes last."""
    total = [
        max(0, (-(-extent // step) - 1) * step + (taps - 1) * between + 1 - extent)
        for extent, step, taps, between in zip(size, steps, kernel, apart, strict=True)
    ]
    return (*(most // 2 for most in total), *(most - most // 2 for most in total))


def conv(
    dtype: DType, inside: int, outside: int, kernel: Size, size: Size, stride: int = 1, *,
    group: int = 1, dilation: int = 1, bits: int = 8,
) -> Layer:  # fmt: skip
    """Zero points are folded into the bias, as they are in networks: padding reads what stands for zero."""
    x, w = drawn((1, inside, *size), dtype), weights((outside, inside // group, *kernel))
    w = np.right_shift(w, 8 - bits) if bits < 8 else w
    steps = (1, stride) if size[0] == 1 else (stride, stride)
    apart = (1, dilation) if size[0] == 1 else (dilation, dilation)
    pads = same_pads(size, steps, kernel, apart)
    each = w[0].size
    requant = rounded(dtype, scales(dtype, outside, each, 127 >> (8 - bits)), -5)
    attributes: dict[str, Any] = {
        "kernel_shape": kernel, "strides": steps, "dilations": apart, "pads": pads, "ceil_mode": 0,
        "group": group, "requant": requant, "x_zero_point": 0,
        "pad_value": -9 if dtype is DType.I8 else 0, "w_zero_point": (0,),
    }  # fmt: skip
    attributes |= {"weight_bits": bits} if bits < 8 else {}
    attributes |= {"output_type": dtype.value} if dtype is not DType.I8 else {}
    bias = np.arange(outside, dtype=np.int32 if dtype is DType.I8 else np.int64) * 31 - 100
    kind = f"depthwise {inside}" if inside == group > 1 else f"conv {inside}"
    more = [f"-{outside}"] if kind.startswith("conv") or outside > inside else []
    more += [f" stride {stride}"] if stride > 1 else []
    more += [f" dilation {dilation}"] if dilation > 1 else []
    more += [f" in {group} groups"] if 1 < group < inside else []
    name = f"{prefix(dtype, bits)}{kind}{''.join(more)}, {kernel[0]}x{kernel[1]} of {size[0]}x{size[1]}"
    return layer(name, "QConv", [x, w, bias], attributes, (1, 2))


def prefix(dtype: DType, bits: int = 8) -> str:
    """What names begin with."""
    return "4-bit weights: " if bits == 4 else "16-bit: " if dtype is DType.I16 else ""


def dense(dtype: DType, rows: int, depth: int, columns: int, bits: int = 8) -> Layer:
    """One scale for all columns."""
    w = weights((depth, columns))
    w = np.right_shift(w, 8 - bits) if bits < 8 else w
    requant = rounded(dtype, scales(dtype, 1, depth, 127 >> (8 - bits)), -5)
    attributes: dict[str, Any] = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant}
    attributes |= {"weight_bits": bits} if bits < 8 else {}
    attributes |= {"output_type": dtype.value} if dtype is not DType.I8 else {}
    bias = np.arange(columns, dtype=np.int32 if dtype is DType.I8 else np.int64)
    name = f"{prefix(dtype, bits)}dense {rows}x{depth}-{columns}"
    return layer(name, "QGemm", [drawn((rows, depth), dtype), w, bias], attributes, (1, 2))


def replaced(one: Layer) -> Layer:
    """With the rounding of TensorFlow Lite Micro."""
    node = one.site.node
    requant = replace(node.requant(), rounding=DoubleRounding())
    return replace(one, site=replace(one.site, node=replace(node, attributes={**node.attributes, "requant": requant})))


def others(dtype: DType) -> Iterator[Layer]:
    """Pools, sums and products of two tensors, softmax."""
    for channels, size, kernel, stride in (
        (64, (8, 8), 8, 8),
        (64, (25, 5), 0, 1),
        (32, (16, 16), 2, 2),
        (16, (16, 16), 3, 1),
    ):
        yield pool(dtype, "QAveragePool", channels, size, (kernel, kernel) if kernel else size, stride)
    for channels, size, kernel, stride in ((32, (16, 16), 2, 2), (13, (15, 15), 3, 2)):
        yield pool(dtype, "MaxPool", channels, size, (kernel, kernel), stride)
    for op, shape in (("QAdd", (1, 16, 16, 16)), ("QAdd", (1, 16, 12, 12)), ("QMul", (1, 16, 12, 12))):
        yield pair(dtype, op, shape)
    for shape in ((1, 12), (32, 48)):
        low, high = dtype.limits
        attributes = {
            "axis": -1, "x_scale": float(np.float32(0.1 if dtype is DType.I8 else 0.0004)), "rounding": "tflm",
            "y_scale": 2.0**-8 if dtype is DType.I8 else 2.0**-15, "zero_point": low if dtype is DType.I8 else 0,
            "low": low, "high": high,
        }  # fmt: skip
        attributes |= {"output_type": dtype.value} if dtype is not DType.I8 else {}
        yield layer(f"{prefix(dtype)}softmax {list(shape)}", "QSoftmax", [drawn(shape, dtype)], attributes)


def pool(dtype: DType, op: str, channels: int, size: Size, kernel: Size, stride: int) -> Layer:
    """Without padding."""
    attributes: dict[str, Any] = {
        "kernel_shape": kernel, "strides": (stride,) * 2, "dilations": (1, 1), "pads": (0,) * 4, "ceil_mode": 0,
    }  # fmt: skip
    if op == "QAveragePool":
        count, (low, high) = kernel[0] * kernel[1], dtype.limits
        rounding = Rational(numerator=(1,), denominator=(count,), halves="away")
        requant = Requant(scale=(1 / count,), zero_point=0, low=low, high=high, rounding=rounding)
        attributes |= {"x_zero_point": 0, "count_include_pad": 0, "requant": requant}
        attributes |= {"output_type": dtype.value} if dtype is not DType.I8 else {}
    name = f"{prefix(dtype)}{op} {kernel[0]}x{kernel[1]} stride {stride} of {channels}x{size[0]}x{size[1]}"
    return layer(name, op, [drawn((1, channels, *size), dtype)], attributes)


def pair(dtype: DType, op: str, shape: tuple[int, ...]) -> Layer:
    """Two tensors of one shape."""
    zeros = (3, -7, 5) if dtype is DType.I8 else (0, 0, 0)
    low, high = dtype.limits
    if op == "QAdd":
        attributes: dict[str, Any] = {
            "a_scale": float(np.float32(0.0732463)), "b_scale": float(np.float32(0.0545217)),
            "y_scale": float(np.float32(0.1)), "a_zero_point": zeros[0], "b_zero_point": zeros[1],
            "zero_point": zeros[2], "low": low, "high": high, "rounding": "tflm",
        }  # fmt: skip
    else:
        requant = Requant(
            scale=(1 / (80 if dtype is DType.I8 else 20000),), zero_point=zeros[2], low=low, high=high,
            rounding=DoubleRounding(),
        )  # fmt: skip
        attributes = {"a_zero_point": zeros[0], "b_zero_point": zeros[1], "requant": requant}
    attributes |= {"output_type": dtype.value} if dtype is not DType.I8 else {}
    inputs = [drawn(shape, dtype), drawn(shape, dtype)[..., ::-1].copy()]
    return layer(f"{prefix(dtype)}{op} of {int(np.prod(shape))}", op, inputs, attributes)
