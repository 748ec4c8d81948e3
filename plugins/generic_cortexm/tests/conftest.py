"""Adds layers for `pytest --tilewright-target cortex-m55`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tilewright.api.graph import Attribute, DoubleRounding, DType, MultiplyShift, Rational, Requant
from tilewright.api.testing import Sample, byte_array

Array = npt.NDArray[np.generic]
WINDOW: Mapping[str, Attribute] = {
    "kernel_shape": (3, 3),
    "strides": (1, 1),
    "dilations": (1, 1),
    "pads": (1, 1, 1, 1),
    "ceil_mode": 0,
}


def pytest_tilewright_layers() -> list[Sample]:
    """A sum of 32 bits, a mean of whole images, one scale for everything, and products of 16-bit values."""
    rng = np.random.default_rng(1)
    images = tuple(byte_array(rng, DType.I8, (1, 12, 9, 11), saturated=False) for _ in range(2))
    scales: dict[str, Attribute] = {"a_scale": 0.5, "b_scale": 0.25, "a_zero_point": 3, "b_zero_point": 1}
    limits: dict[str, Attribute] = {"zero_point": 2, "low": -128, "high": 127, "output_type": "i8"}
    requant = Requant(scale=(0.0113,), zero_point=2, low=-128, high=127)
    mean: dict[str, Attribute] = {"axes": (2, 3), "keepdims": 1, "x_zero_point": 4, "requant": requant}
    floats = rng.standard_normal((5, 21, 23)).astype(np.float32)
    one = (np.array(0.02, np.float32), np.array(3, np.int8))
    return [
        Sample(op="QAdd", kind="of 32 bits", inputs=images, attributes={**scales, **limits}),
        Sample(op="QReduceMean", kind="images", inputs=images[:1], attributes=mean),
        Sample(
            op="QuantizeLinear",
            kind="one scale",
            inputs=(floats, *one),
            attributes={"axis": 1, "to": "i8"},
            constants=(1, 2),
        ),
        *_fpu_floats(),
        *_words(rng),
        *_twice(rng),
        *_floats(rng),
        _grouped(rng, "groups of fours", 3, (12, 24)),
        _grouped(rng, "two filters of a channel", 7, (7, 14)),
        _wide(rng, "three channels", (3, 3), (1, 1), 3),
        _wide(rng, "two channels", (3, 3), (2, 2), 2),
        _wide(rng, "five columns", (5, 5), (1, 1)),
        _wide(rng, "every second of seven columns", (3, 7), (2, 2)),
    ]


def _floats(rng: np.random.Generator) -> list[Sample]:
    """One row of floats, and products of 16-bit ones."""
    row, matrix, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((1, 40), (40, 12), (12,)))
    rows = tuple(each.astype(np.float16) for each in (rng.standard_normal((5, 40)), matrix, bias))
    image, weights = (rng.standard_normal(shape).astype(np.float16) for shape in ((1, 8, 9, 11), (6, 4, 3, 3)))
    same: dict[str, Attribute] = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4}
    return [
        Sample(op="Gemm", kind="of one row", inputs=(row, matrix, bias), constants=(1, 2)),
        Sample(op="Gemm", kind="of float16", inputs=rows, constants=(1, 2)),
        Sample(op="MatMul", kind="of float16", inputs=rows[:2], constants=(1,)),
        Sample(op="Conv", kind="of float16", inputs=(image, weights), attributes={**same, "group": 2}, constants=(1,)),
    ]


def _grouped(rng: np.random.Generator, kind: str, groups: int, channels: tuple[int, int]) -> Sample:
    """A convolution of bytes in groups, from so many channels to so many."""
    inside, outside = channels
    x = byte_array(rng, DType.I8, (1, inside, 9, 11), saturated=False)
    w = byte_array(rng, DType.I8, (outside, inside // groups, 3, 3), saturated=False)
    requant = Requant(scale=(2.0**-9,), zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {**WINDOW, "group": groups, "requant": requant, "output_type": "i8"}
    return Sample(op="QConv", kind=kind, inputs=(x, w), attributes=attributes, constants=(1,))


def _wide(
    rng: np.random.Generator, kind: str, kernel: tuple[int, int], strides: tuple[int, int], channels: int = 6
) -> Sample:
    """A depthwise convolution of bytes with windows that are wider than three, or of few channels."""
    shapes = ((1, channels, 9, 13), (channels, 1, *kernel))
    x, w = (byte_array(rng, DType.I8, shape, saturated=False) for shape in shapes)
    requant = Requant(scale=(2.0**-9,), zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {**WINDOW, "kernel_shape": kernel, "strides": strides, "pads": (1, 2, 2, 2)}
    attributes |= {"group": channels, "requant": requant, "output_type": "i8"}
    return Sample(op="QConv", kind=f"depthwise of {kind}", inputs=(x, w), attributes=attributes, constants=(1,))


def _words(rng: np.random.Generator) -> list[Sample]:
    """A convolution, a depthwise one and a fully connected layer of 16-bit values."""
    rounding = MultiplyShift(multiplier=(2**14 + 77,), shift=(24,), bits=64)
    requant = Requant(scale=(2.0**-9,), zero_point=0, low=-(2**15), high=2**15 - 1, rounding=rounding)
    result: dict[str, Attribute] = {"requant": requant, "output_type": "i16"}
    above = Requant(scale=(2.0**-9,), zero_point=0, low=0, high=900)
    image = byte_array(rng, DType.I16, (1, 8, 9, 11), saturated=False)
    rows = byte_array(rng, DType.I16, (3, 40), saturated=False)
    full, single, matrix = (
        byte_array(rng, DType.I8, shape, saturated=False) for shape in ((6, 8, 3, 3), (8, 1, 3, 3), (40, 7))
    )
    biases = np.arange(7, dtype=np.int64)

    def layer(op: str, kind: str, inputs: tuple[Array, ...], attributes: Mapping[str, Attribute]) -> Sample:
        constants = tuple(range(1, len(inputs)))
        return Sample(op=op, kind=kind, inputs=inputs, attributes={**result, **attributes}, constants=constants)

    return [
        layer("QConv", "of 16 bits", (image, full), {**WINDOW, "group": 1}),
        layer("QConv", "depthwise of 16 bits", (image, single), {**WINDOW, "group": 8}),
        layer("QGemm", "of 16 bits", (rows, matrix, biases), {"b_zero_point": (0,)}),
        layer("QGemm", "of 16 bits in sums of 64", (rows, matrix, biases + 2**40), {"b_zero_point": (0,)}),
        layer("QGemm", "of 16 bits from 0 on", (rows, matrix, biases), {"b_zero_point": (0,), "requant": above}),
    ]


def _twice(rng: np.random.Generator) -> list[Sample]:
    """Sums, products and softmax of 16-bit values, and an average of bytes, as TensorFlow Lite Micro rounds them."""
    a, b = (byte_array(rng, DType.I16, (2, 12, 9, 11), saturated=False) for _ in range(2))
    image = byte_array(rng, DType.I8, (1, 12, 9, 11), saturated=True)
    low, high = DType.I16.limits
    numbers: dict[str, Attribute] = {
        "a_scale": 0.5, "b_scale": 0.75, "y_scale": 0.9, "a_zero_point": 0, "b_zero_point": 0, "zero_point": 0,
        "low": low, "high": high, "rounding": "tflm", "output_type": "i16",
    }  # fmt: skip
    row: dict[str, Attribute] = {
        "axis": -1, "x_scale": 0.0004, "y_scale": 2.0**-15, "zero_point": 0, "low": low, "high": high,
        "rounding": "tflm", "output_type": "i16",
    }  # fmt: skip
    requant = Requant(scale=(2.0**-15,), zero_point=0, low=low, high=high, rounding=DoubleRounding())
    product: dict[str, Attribute] = {"requant": requant, "a_zero_point": 0, "b_zero_point": 0, "output_type": "i16"}
    quotient = Rational(numerator=(1,), denominator=(6,), halves="away")
    mean = Requant(scale=(1 / 6,), zero_point=0, low=-128, high=127, rounding=quotient)
    window: dict[str, Attribute] = {
        **WINDOW, "kernel_shape": (2, 3), "pads": (0,) * 4, "x_zero_point": 0, "count_include_pad": 0, "requant": mean,
        "output_type": "i8",
    }  # fmt: skip
    return [
        Sample(op="QAdd", kind="of 16 bits, rounded twice", inputs=(a, b), attributes=numbers),
        Sample(op="QMul", kind="of 16 bits, rounded twice", inputs=(a, b), attributes=product),
        Sample(op="QAveragePool", kind="by quotients", inputs=(image,), attributes=window),
        Sample(
            op="QAveragePool",
            kind="of 16 bits, by quotients",
            inputs=(a,),
            attributes={**window, "requant": replace(mean, low=low, high=high), "output_type": "i16"},
        ),
        Sample(op="MaxPool", kind="of 16 bits", inputs=(a,), attributes=WINDOW),
        Sample(op="QSoftmax", kind="of 16 bits, by tables", inputs=(a,), attributes=row),
    ]


def _fpu_floats() -> list[Sample]:
    """A row times a matrix, depthwise windows of neighbours, and a GRU whose bias is inside its reset."""
    rng = np.random.default_rng(2)
    row, matrix, image, taps, given, weights, bias = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((1, 37), (37, 10), (1, 5, 7, 12), (5, 1, 3, 3), (3, 2, 21), (21, 7), (7,))
    )
    window: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0,
        "group": 5,
    }  # fmt: skip
    cell: dict[str, Attribute] = {
        "activations": ("Sigmoid", "Tanh"), "alphas": (0.0, 0.0), "betas": (0.0, 0.0), "reverse": 0,
        "linear_before_reset": 1,
    }  # fmt: skip
    return [
        Sample(op="Gemm", kind="a row of floats", inputs=(row, matrix), constants=(1,)),
        Sample(op="Conv", kind="neighbours", inputs=(image, taps), attributes=window, constants=(1,)),
        Sample(op="GRUSteps", kind="its bias inside", inputs=(given, weights, bias), attributes=cell, constants=(1,)),
        Sample(op="GRUSteps", kind="its bias known", inputs=(given, weights, bias), attributes=cell, constants=(1, 2)),
    ]
