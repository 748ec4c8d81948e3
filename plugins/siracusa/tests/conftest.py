"""Makes the simulator of tests/iss importable, and adds layers for `pytest --tilewright-target siracusa`."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.api.graph import Attribute, DType, MultiplyShift, Requant
from tilewright.api.testing import Sample, byte_array

sys.path.insert(0, str(Path(__file__).parent / "iss"))


def pytest_tilewright_layers() -> list[Sample]:
    """A sum without ties, a product of one row, depthwise windows read in different ways, weights of 4 bits, values of
    16.
    """
    rng = np.random.default_rng(1)
    images = tuple(byte_array(rng, DType.I8, (5, 21, 23), saturated=False) for _ in range(2))
    scales = {"a_scale": 0.3712, "b_scale": 0.6131, "a_zero_point": 3, "b_zero_point": -2}
    limits = {"zero_point": 1, "low": -128, "high": 127, "output_type": "i8"}
    weights = (byte_array(rng, DType.I8, (101, 40), saturated=False), rng.integers(-900, 900, 40).astype(np.int32))
    requant = Requant(scale=(0.0013,), zero_point=2, low=-128, high=127)
    product = {"a_zero_point": 3, "b_zero_point": (0,), "requant": requant, "output_type": "i8"}
    row = byte_array(rng, DType.I8, (1, 101), saturated=False)
    window = {"dilations": (1, 1), "ceil_mode": 0, "group": 11, "pad_value": -4, "x_zero_point": -4}
    window |= {"w_zero_point": (0,), "requant": requant, "output_type": "i8"}
    image = byte_array(rng, DType.I8, (1, 11, 21, 23), saturated=False)
    wide, small = (byte_array(rng, DType.I8, (11, 1, taps, taps), saturated=False) for taps in (5, 3))
    return [
        *_narrow(rng, window, product),
        *_wide(rng, window, product),
        Sample(
            op="QConv",
            kind="depthwise 5x5",
            inputs=(image, wide),
            attributes={**window, "kernel_shape": (5, 5), "strides": (1, 1), "pads": (2, 2, 2, 2)},
            constants=(1,),
        ),
        Sample(
            op="QConv",
            kind="depthwise, every second",
            inputs=(image, small),
            attributes={**window, "kernel_shape": (3, 3), "strides": (2, 2), "pads": (0, 0, 1, 1)},
            constants=(1,),
        ),
        Sample(op="QAdd", kind="without ties", inputs=images, attributes={**scales, **limits}),
        Sample(op="QGemm", kind="one row", inputs=(row, *weights), attributes=product, constants=(1, 2)),
        *_sums_of_convolutions(rng),
    ]


def _sums_of_convolutions(rng: np.random.Generator) -> list[Sample]:
    """What is added to a convolution of every size of block, as the second addend and as the first."""
    x, w, more = (
        byte_array(rng, DType.I8, shape, saturated=False) for shape in ((2, 8, 9, 11), (7, 8, 3, 3), (2, 7, 9, 11))
    )
    requant = Requant(scale=(0.0013,), zero_point=2, low=-128, high=127)
    attributes: dict[str, Attribute] = {
        "0.kernel_shape": (3, 3), "0.strides": (1, 1), "0.dilations": (1, 1), "0.pads": (1, 1, 1, 1), "0.ceil_mode": 0,
        "0.group": 1, "0.pad_value": -4, "0.x_zero_point": -4, "0.w_zero_point": (0,), "0.requant": requant,
        "0.output_type": "i8", "1.a_scale": 0.3712, "1.b_scale": 0.6131, "1.a_zero_point": 3, "1.b_zero_point": -2,
        "1.zero_point": 1, "1.low": -128, "1.high": 127, "1.output_type": "i8",
    }  # fmt: skip
    return [
        Sample(op="QConv+QAdd", kind=kind, inputs=(x, w, None, *addends), attributes=attributes, constants=(1,))
        for kind, addends in (("first", (None, more)), ("second", (more, None)))
    ]


def _wide(rng: np.random.Generator, window: dict[str, Any], product: dict[str, Any]) -> Iterator[Sample]:
    """Layers of 16-bit values: read in place and copied to columns, scaled in float, and multiplied and shifted."""
    exact = Requant(scale=(0.002,), zero_point=2, low=-(2**15), high=2**15 - 1)
    numbers = MultiplyShift(multiplier=(2**14 + 77,), shift=(23,), bits=64)
    rounded = {"float": exact, "shifted": replace(exact, scale=((2**14 + 77) / 2.0**23,), rounding=numbers)}
    square = {"group": 1, "kernel_shape": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1), "output_type": "i16"}
    for (kind, requant), channels in itertools.product(rounded.items(), (12, 3)):
        image = byte_array(rng, DType.I16, (1, channels, 9, 8), saturated=False)
        yield Sample(
            op="QConv", kind=f"16 bits, {channels} channels, {kind}",
            inputs=(image, byte_array(rng, DType.I8, (7, channels, 3, 3), saturated=False)),
            attributes={**window, **square, "requant": requant}, constants=(1,),
        )  # fmt: skip
    for (kind, requant), (rows, depth) in itertools.product(rounded.items(), ((3, 44), (1, 101))):
        a, b = (byte_array(rng, dtype, shape, saturated=False) for dtype, shape in (
            (DType.I16, (rows, depth)), (DType.I8, (depth, 13))))  # fmt: skip
        yield Sample(
            op="QGemm", kind=f"16 bits, {rows} of {depth}, {kind}", inputs=(a, b, rng.integers(-900, 900, 13)),
            attributes={**product, "requant": requant, "output_type": "i16"}, constants=(1, 2),
        )  # fmt: skip


def _narrow(rng: np.random.Generator, window: dict[str, Any], product: dict[str, Any]) -> Iterator[Sample]:
    """Layers whose weights have 4 bits: windows read in place and copied to columns, rows of whole words and others."""
    square = {"group": 1, "kernel_shape": (3, 3), "strides": (1, 1), "pads": (1, 1, 1, 1)}
    for channels in (12, 3):
        image = byte_array(rng, DType.I8, (1, channels, 9, 8), saturated=False)
        weights = rng.integers(-8, 8, (7, channels, 3, 3)).astype(np.int8)
        yield Sample(
            op="QConv", kind=f"4 bits, {channels} channels", inputs=(image, weights),
            attributes={**window, **square, "weight_bits": 4}, constants=(1,),
        )  # fmt: skip
    for rows, depth in ((3, 44), (1, 44), (1, 101)):
        a, b = byte_array(rng, DType.I8, (rows, depth), saturated=False), rng.integers(-8, 8, (depth, 13))
        inputs = (a, b.astype(np.int8), rng.integers(-900, 900, 13).astype(np.int32))
        yield Sample(
            op="QGemm", kind=f"4 bits, {rows} of {depth}", inputs=inputs,
            attributes={**product, "weight_bits": 4}, constants=(1, 2),
        )  # fmt: skip
