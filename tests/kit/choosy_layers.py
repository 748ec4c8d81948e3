"""Layers for kernels that leave others alone: values of 16 bits, and sums that one shift of an engine finishes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.roundings import MultiplyShift
from tilewright.testing.operator_layers import Sample
from tilewright.testing.operator_sites import byte_array

_IMAGE: dict[str, Any] = {"strides": (1, 1), "dilations": (1, 1), "kernel_shape": (3, 3), "ceil_mode": 0}


def wide_layers() -> tuple[Sample, ...]:
    """Softmax, also masked, its logarithm, a dense layer, a convolution and a depthwise one of 16 bits."""
    rng = np.random.default_rng(5)
    requant = Requant(scale=(0.002,) * 8, zero_point=0, low=-(2**15), high=2**15 - 1)
    image = byte_array(rng, DType.I16, (1, 8, 7, 9), saturated=False)
    bias = rng.integers(-9000, 9000, 8)
    fields: dict[str, Any] = {"requant": requant, "output_type": "i16"}
    softmax = {"axis": 1, "x_scale": 0.001, "y_scale": 2.0**-15, "zero_point": 0, "low": -(2**15), "high": 2**15 - 1}
    dense = (image[:, :, 0, 0].copy(), byte_array(rng, DType.I8, (8, 8), saturated=False), bias)
    weights = [byte_array(rng, DType.I8, (8, depth, 3, 3), saturated=False) for depth in (8, 1)]
    window = {**_IMAGE, **fields, "pads": (1, 1, 1, 1), "x_zero_point": 0, "pad_value": 0, "w_zero_point": (0,)}
    rows = {**softmax, "output_type": "i16"}
    return (
        Sample(op="QSoftmax", kind="words", inputs=(image[0, 0],), attributes=rows),
        Sample(op="QMaskedSoftmax", kind="words", inputs=(image[0, 0], image[0, 1] < 0), attributes=rows),
        Sample(op="QLogSoftmax", kind="words", inputs=(image[0, 0],), attributes={**rows, "y_scale": 2.0**-11}),
        Sample(
            op="QGemm",
            kind="words",
            inputs=dense,
            attributes={**fields, "a_zero_point": 0, "b_zero_point": (0,)},
            constants=(1, 2),
        ),
        Sample(op="QConv", kind="words", inputs=(image, weights[0], bias), attributes=window, constants=(1, 2)),
        Sample(
            op="QConv",
            kind="depthwise words",
            inputs=(image, weights[1], bias),
            attributes={**window, "group": 8},
            constants=(1, 2),
        ),
    )


def grouped_layers() -> tuple[Sample, ...]:
    """Convolutions of bytes: two filters of every channel, and two groups of four channels."""
    rng = np.random.default_rng(7)
    image = byte_array(rng, DType.I8, (1, 8, 7, 9), saturated=False)
    requant = Requant(scale=(0.002,), zero_point=0, low=-128, high=127)
    window = {**_IMAGE, "pads": (1, 1, 1, 1), "requant": requant, "x_zero_point": 0, "w_zero_point": (0,)}
    return tuple(
        Sample(
            op="QConv",
            kind=f"{groups} groups",
            inputs=(image, byte_array(rng, DType.I8, (outputs, 8 // groups, 3, 3), saturated=False)),
            attributes={**window, "pad_value": 0, "group": groups, "output_type": "i8"},
            constants=(1,),
        )
        for groups, outputs in ((8, 16), (2, 8))
    )


def shifted_layers() -> tuple[Sample, ...]:
    """Convolutions of 3x3, depthwise and 1x1, and a dense layer, of unsigned bytes; sums are multiplied and shifted."""
    rng = np.random.default_rng(6)
    rounding = MultiplyShift(multiplier=tuple(range(1, 9)), shift=(18,))
    requant = Requant(scale=tuple(m / 2**18 for m in range(1, 9)), zero_point=0, low=0, high=255, rounding=rounding)
    image, bias = byte_array(rng, DType.U8, (1, 8, 9, 9), saturated=False), np.arange(8, dtype=np.int32)
    window = {
        **_IMAGE,
        "requant": requant,
        "x_zero_point": 0,
        "pad_value": 0,
        "output_type": "u8",
        "w_zero_point": (0,),
    }
    taps = {"": (8, 8, 3, 3), " depthwise": (8, 1, 3, 3), " point": (8, 8, 1, 1)}
    weights = {kind: byte_array(rng, DType.I8, shape, saturated=False) for kind, shape in taps.items()}
    dense = (image[0, :, :, 0].T.copy(), byte_array(rng, DType.I8, (8, 8), saturated=False), bias)
    product = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant, "output_type": "u8"}
    return (
        *(
            Sample(
                op="QConv",
                kind=f"shifted{kind}" + (" strided" if stride > 1 else ""),
                inputs=(image, of_kind, bias),
                attributes={
                    **window,
                    "group": 8 // of_kind.shape[1],
                    "kernel_shape": of_kind.shape[2:],
                    "pads": (of_kind.shape[2] // 2,) * 4,
                    "strides": (stride, stride),
                },
                constants=(1, 2),
            )
            for kind, of_kind in weights.items()
            for stride in (1, 2)
        ),
        Sample(op="QGemm", kind="shifted", inputs=dense, attributes=product, constants=(1, 2)),
    )
