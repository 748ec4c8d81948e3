"""Knows how to draw networks over images and signals for tests of plans by rows: strides, uneven padding, branches that
part and meet, values with several readers, pools, sums over everything, transposed convolutions.
Does not know how they are computed by rows.

Values are small whole numbers in float32, so that no order of additions changes a bit.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING

from tilewright.bind import bind
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.line_buffers.analysis import LineBufferAnalysis
from tilewright.tile.line_buffers.buffered_step import BufferedStep
from tilewright.tile.machine import ScheduledMachine

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


_PRODUCTS = ("Gemm", "MatMul")
POOL: Mapping[str, Attribute] = {
    "kernel_shape": (3, 3), "strides": (2, 2), "dilations": (1, 1), "pads": (1, 0, 0, 0), "ceil_mode": 0,
}  # fmt: skip
ONE_TAP: Mapping[str, Attribute] = {
    "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1,
}  # fmt: skip
ONE_MEMORY = Platform(name="plain", memories=(Memory(name="ram", size_bytes=None),))


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNetwork:
    """A graph, and values for its inputs."""

    graph: Graph
    feeds: Mapping[str, Array]


def on_one_memory(graph: Graph) -> ScheduledMachine:
    """The graph scheduled with portable kernels, in its own order."""
    decisions = Decisions()
    bound = bind(graph, ONE_MEMORY, vocabulary(), portable_kernels(), decisions)
    return ScheduledMachine(schedule(bound, vocabulary(), decisions), vocabulary(), decisions)


def image(shape: tuple[int, ...] = (1, 2, 9, 6)) -> tuple[Sketch, str]:
    """A network that begins with a convolution over an image, which leaves its shape as it is; and that value."""
    import numpy as np

    sketch = Sketch(operators=vocabulary())
    x, channels = sketch.input("x", DType.F32, shape), shape[1]
    weights = sketch.constant(np.ones((channels, channels, 1, 1), np.float32))
    return sketch, sketch.node("Conv", (x, weights), ONE_TAP)


def last_by_rows(sketch: Sketch, *outputs: str) -> BufferedStep:
    """The last step of what was sketched."""
    machine = on_one_memory(sketch.finish(*outputs))
    return LineBufferAnalysis(machine).at(len(machine.scheduled.steps) - 1)


def row_network(seed: int, operators: Mapping[str, Operator]) -> RowNetwork:
    """The same for the same seed."""
    import numpy as np

    chance = random.Random(seed)
    draft = _Draft(chance, Sketch(operators=operators))
    spatial = [chance.randint(8, 17), chance.randint(3, 7)] if chance.random() < 0.7 else [chance.randint(16, 40)]
    x = draft.sketch.input("x", DType.F32, (1, chance.randint(1, 3), *spatial))
    y = draft.conv(x, chance.randint(2, 5))
    for _ in range(chance.randint(2, 6)):
        y = draft.more(y)
    outputs = draft.ended(y)
    numbers = np.random.default_rng(seed).integers(-3, 4, draft.shape(x)).astype(np.float32)
    return RowNetwork(graph=draft.sketch.finish(*outputs), feeds={x: numbers})


@dataclass(slots=True)
class _Draft:
    chance: random.Random
    sketch: Sketch
    seen: list[str] = field(default_factory=list)

    def shape(self, value: str) -> tuple[int, ...]:
        return self.sketch.tensors[value].shape

    def more(self, x: str) -> str:
        """What comes after `x`: a layer, or branches that meet."""
        layers = [self._convolved, self._convolved, self._pooled, self._residual, self._beside, self._depthwise]
        made = self.chance.choice([*layers, self._spread])(x)
        self.seen.append(made)
        return made

    def ended(self, x: str) -> tuple[str, ...]:
        """Sums over everything and a product, products of the flattened image, or the image itself; sometimes a value
        from the middle as well.
        """
        last = x
        if self.chance.random() < 0.6:
            axes = tuple(range(2, len(self.shape(x))))
            last = self.sketch.node("ReduceSum", (x,), {"axes": axes, "keepdims": 0})
            if self.chance.random() < 0.5:
                last = self._product(last, "Gemm")
        elif self.chance.random() < 0.6:
            last = self._flattened(x)
        middle = [value for value in self.seen if value != x and self.chance.random() < 0.15]
        return (last, *middle[:1])

    def _flattened(self, x: str) -> str:
        """One product, or two; sometimes something between them that is not computed in parts."""
        elements = prod(self.shape(x))
        y = self._product(self.sketch.node("Reshape", (x,), {"shape": (1, elements)}), self.chance.choice(_PRODUCTS))
        if self.chance.random() < 0.5:
            y = self._product(self._clipped(y) if self.chance.random() < 0.5 else y, "Gemm")
        return y

    def _product(self, x: str, op: str) -> str:
        return self.sketch.node(op, (x, self._weights((self.shape(x)[1], self.chance.randint(2, 5)))), {})

    def conv(self, x: str, outputs: int, stride: int = 1, same: bool = False, group: int = 1) -> str:
        """Any kernel, uneven padding; clipped, so that values stay small."""
        spatial = self.shape(x)[2:]
        kernel = tuple(self.chance.choice((1, 3, 3, 5)) for _ in spatial)
        dilations = tuple(self.chance.choice((1, 1, 1, 2)) for _ in spatial)
        reach = [(taps - 1) * step for taps, step in zip(kernel, dilations, strict=True)]
        before = [far // 2 if same else self.chance.randint(0, far) for far in reach]
        after = [far - low if same or extent <= far else self.chance.randint(0, far - low)
                 for far, low, extent in zip(reach, before, spatial, strict=True)]  # fmt: skip
        windows = _windows(kernel, stride, dilations, (*before, *after))
        w = self._weights((outputs, self.shape(x)[1] // group, *kernel))
        return self._clipped(self.sketch.node("Conv", (x, w), {**windows, "group": group}))

    def _convolved(self, x: str) -> str:
        return self.conv(x, self.chance.randint(2, 5), self.chance.choice((1, 1, 2, 3)) if self._large(x) else 1)

    def _depthwise(self, x: str) -> str:
        channels = self.shape(x)[1]
        return self.conv(x, channels, 1, group=channels)

    def _pooled(self, x: str) -> str:
        if not self._large(x):
            return self._clipped(x)
        spatial = self.shape(x)[2:]
        kernel = tuple(self.chance.randint(1, 3) for _ in spatial)
        windows = _windows(kernel, self.chance.randint(1, 2), (1,) * len(spatial), (0,) * 2 * len(spatial))
        return self.sketch.node("MaxPool", (x,), windows)

    def _residual(self, x: str) -> str:
        """A chain beside a shortcut, which is nothing or a convolution of its own."""
        y, channels = x, self.shape(x)[1]
        for _ in range(self.chance.randint(1, 2)):
            y = self.conv(y, channels, same=True)
        other = x if self.chance.random() < 0.6 else self.conv(x, channels, same=True)
        return self._clipped(self.sketch.node("Add", (y, other)))

    def _beside(self, x: str) -> str:
        """Two or three branches, their channels one after the other."""
        branches = [self.conv(x, self.chance.randint(1, 3), same=True) for _ in range(self.chance.randint(1, 2))]
        return self.sketch.node("Concat", (*branches, x), {"axis": 1})

    def _spread(self, x: str) -> str:
        """More rows than before."""
        spatial = self.shape(x)[2:]
        if max(spatial) > 24:
            return self._clipped(x)
        if self.chance.random() < 0.5:
            factors = (1, 1, *(self.chance.randint(1, 2) for _ in spatial))
            return self.sketch.node("Upsample", (x,), {"factors": factors})
        kernel = (3,) * len(spatial)
        windows = _windows(kernel, 2, (1,) * len(spatial), (1,) * 2 * len(spatial))
        w = self._weights((self.shape(x)[1], self.chance.randint(1, 3), *kernel))
        attributes: dict[str, Attribute] = {**windows, "group": 1, "output_padding": (1,) * len(spatial)}
        return self._clipped(self.sketch.node("ConvTranspose", (x, w), attributes))

    def _large(self, x: str) -> bool:
        return min(self.shape(x)[2:]) >= 4

    def _clipped(self, x: str) -> str:
        return self.sketch.node("Clip", (x,), {"min": -4.0, "max": 4.0})

    def _weights(self, shape: Sequence[int]) -> str:
        import numpy as np

        count = int(np.prod(shape))
        return self.sketch.constant(
            np.array([self.chance.randint(-2, 2) for _ in range(count)], np.float32).reshape(shape)
        )


def _windows(
    kernel: Sequence[int], stride: int, dilations: Sequence[int], pads: Sequence[int]
) -> dict[str, tuple[int, ...] | int]:
    return {
        "kernel_shape": tuple(kernel),
        "strides": (stride,) * len(kernel),
        "dilations": tuple(dilations),
        "pads": tuple(pads),
        "ceil_mode": 0,
    }
