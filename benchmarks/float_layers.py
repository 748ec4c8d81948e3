"""float32 layers that `gvsoc.py --kernels` measures one by one: a machine's figures are fitted to those of `calibrated`
alone, and its estimates are judged by those of `judged` and `others`, which have other shapes and operators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from cortex_m_layers import Layer, layer


def calibrated() -> Iterator[Layer]:
    """Those a machine's figures may be fitted to."""
    yield conv(16, 32, 16)
    yield conv(32, 32, 16, kernel=(1, 1))
    yield conv(3, 16, 16)
    yield conv(32, 32, 16, group=32)
    yield matmul(64, 64, 64)
    yield gemm(1, 256, 64)
    yield gemm(32, 64, 64)
    yield rows("Softmax", 32, 48)
    yield norm(32, 64)
    yield pair("Add", (1, 16, 32, 32), (1, 16, 32, 32))
    yield pair("Mul", (64, 64), (1, 64))
    yield one("Clip", (1, 16, 32, 32), {"min": 0.0})
    yield one("Sigmoid", (1, 16, 16, 16))
    yield pool("MaxPool", 32, 16, 2)
    yield pool("AveragePool", 64, 8, 8)


def judged() -> Iterator[Layer]:
    """Those that nothing was fitted to."""
    yield conv(32, 32, 12)
    yield conv(16, 32, 16, stride=2)
    yield conv(8, 16, 16, kernel=(5, 5))
    yield conv(64, 96, 8, kernel=(1, 1))
    yield conv(1, 8, 20, kernel=(5, 5))
    yield conv(64, 64, 8, group=64)
    yield conv(16, 16, 16, stride=2, group=16)
    yield matmul(48, 32, 96)
    yield matmul(33, 50, 20)
    yield gemm(1, 640, 128)
    yield gemm(10, 96, 40)
    yield rows("Softmax", 8, 100)
    yield norm(20, 128)
    yield pair("Add", (1, 8, 40, 24), (1, 8, 40, 24))
    yield pair("Sub", (48, 96), (48, 1))
    yield one("Clip", (48, 100), {"min": 0.0, "max": 1.0})
    yield one("Tanh", (24, 100))
    yield pool("MaxPool", 16, 20, 2)
    yield pool("AveragePool", 32, 12, 2)


def others() -> Iterator[Layer]:
    """Operators that are in neither; nothing was fitted to them."""
    yield conv(64, 64, 16, group=4)
    yield conv(32, 32, 16, group=8)
    yield conv(16, 32, 16, dilation=2)
    yield rows("LogSoftmax", 24, 64)
    for op in ("Exp", "Erf", "Gelu", "GeluTanh", "Swish", "HardSigmoid", "LeakyRelu"):
        yield one(op, (24, 100))
    for op in ("ReduceSum", "ReduceMax"):
        yield layer(f"float {op.lower()} [64, 128]", op, [real(64, 128)], {"axes": (1,), "keepdims": 0})


def conv(
    inside: int,
    outside: int,
    size: int,
    *,
    kernel: tuple[int, int] = (3, 3),
    stride: int = 1,
    group: int = 1,
    dilation: int = 1,
) -> Layer:
    """Padded so that a stride of 1 keeps the extent."""
    before = [(taps - 1) * dilation // 2 for taps in kernel]
    attributes = {
        "kernel_shape": kernel, "strides": (stride,) * 2, "dilations": (dilation,) * 2, "pads": (*before, *before),
        "group": group,
    }  # fmt: skip
    inputs = [real(1, inside, size, size), real(outside, inside // group, *kernel), real(outside)]
    kind = "depthwise" if group == inside else f"{outside}{f' in {group} groups' if group > 1 else ''}"
    more = "".join(f", {what} {by}" for what, by in (("stride", stride), ("dilation", dilation)) if by > 1)
    name = f"float conv {kernel[0]}x{kernel[1]} {inside}-{kind} at {size}{more}"
    return layer(name, "Conv", inputs, attributes, (1, 2))


def matmul(m: int, k: int, n: int) -> Layer:
    """Two computed matrices."""
    return layer(f"float matmul {m}x{k} {n}", "MatMul", [real(m, k), real(k, n)], {})


def gemm(m: int, k: int, n: int) -> Layer:
    """Constant weights and biases."""
    return layer(f"float gemm {m}x{k} {n}", "Gemm", [real(m, k), real(k, n), real(n)], {}, (1, 2))


def rows(op: str, *shape: int) -> Layer:
    """Over the last axis."""
    return layer(f"float {op.lower()} {list(shape)}", op, [real(*shape)], {"axis": 1})


def norm(*shape: int) -> Layer:
    """Layer normalisation of the last axis."""
    inputs = [real(*shape), real(shape[-1]), real(shape[-1])]
    attributes = {"axis": 1, "epsilon": 1e-5}
    return layer(f"float layernorm {list(shape)}", "LayerNormalization", inputs, attributes, (1, 2))


def pair(op: str, shape: tuple[int, ...], other: tuple[int, ...]) -> Layer:
    """Element by element, with broadcasting."""
    return layer(f"float {op.lower()} {list(shape)} {list(other)}", op, [real(*shape), real(*other)], {})


def one(op: str, shape: tuple[int, ...], attributes: dict[str, Any] | None = None) -> Layer:
    """Of each element by itself."""
    return layer(f"float {op.lower()} {list(shape)}", op, [real(*shape)], attributes or {})


def pool(op: str, channels: int, size: int, kernel: int) -> Layer:
    """Windows beside each other."""
    attributes = {
        "kernel_shape": (kernel,) * 2, "strides": (kernel,) * 2, "dilations": (1, 1), "pads": (0,) * 4, "ceil_mode": 0,
    }  # fmt: skip
    if op == "AveragePool":
        attributes["count_include_pad"] = 0
    name = f"float {op} {kernel}x{kernel} {channels} at {size}"
    return layer(name, op, [real(1, channels, size, size)], attributes)


def real(*shape: int) -> Any:
    """Random floats, the same for the same shape."""
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32) / math.sqrt(shape[-1])
