"""Knows layers of dynamic quantisation: the step that finds scale and zero point, and products that are given them.
Does not know how they are tiled or run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.operator_sites import Sample, byte_array

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

_WINDOW: dict[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 3,
}  # fmt: skip


def dynamic_layers(numbers: np.random.Generator) -> Iterator[Sample]:
    """A tensor, and a matrix and an image with one computed zero point, a computed scale, factors and addends."""
    yield Sample(op="DynamicQuantizeLinear", inputs=(numbers.standard_normal((5, 7, 11)).astype(np.float32),))
    factors, addends = (numbers.random(18).astype(np.float32) for _ in range(2))
    behind = (_bytes(numbers, 1), None, np.asarray(0.03, np.float32), factors, addends)
    product = (_bytes(numbers, 2, 27, 61), _bytes(numbers, 61, 18), *behind)
    yield Sample(op="MatMulInteger", kind="scaled", inputs=product, constants=(1, 5, 6))
    image = (_bytes(numbers, 1, 12, 27, 25), _bytes(numbers, 18, 4, 3, 3), *behind)
    yield Sample(op="ConvInteger", kind="scaled", inputs=image, attributes=_WINDOW, constants=(1, 5, 6))


def _bytes(numbers: np.random.Generator, *shape: int) -> Array:
    return byte_array(numbers, DType.I8, shape, saturated=False)
