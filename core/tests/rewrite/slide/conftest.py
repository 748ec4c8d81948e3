"""What tests of streams share: small networks, and a stream compared with the whole network on every window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.comparison.reference import run
from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.slide.slide import Slid, slid
from tilewright.testing.sketch import Sketch

Array = npt.NDArray[np.generic]


@dataclass(slots=True, kw_only=True)
class Layers:
    """A network of 8-bit integers over [1, channels, length], written down layer by layer."""

    sketch: Sketch
    generator: np.random.Generator

    def conv(
        self,
        x: str,
        channels: int,
        taps: int = 3,
        *,
        stride: int = 1,
        dilation: int = 1,
        pads: tuple[int, int] = (0, 0),
    ) -> str:
        ins = self.sketch.tensors[x].shape[1]
        weights = self.sketch.constant(self.generator.integers(-127, 128, (channels, ins, taps)).astype(np.int8))
        bias = self.sketch.constant(self.generator.integers(-900, 900, (channels,)).astype(np.int32))
        attributes: dict[str, Attribute] = {
            **_window(taps, stride, dilation, pads),
            "group": 1, "x_zero_point": 3, "w_zero_point": (0,), "output_type": "i8", "pad_value": 3,
            "requant": Requant(scale=(0.4 / (ins * taps * 40),), zero_point=3, low=-128, high=127),
        }  # fmt: skip
        return self.sketch.node("QConv", (x, weights, bias), attributes)

    def mean(self, x: str) -> str:
        """Over all positions."""
        length = self.sketch.tensors[x].shape[2]
        scale = tuple(1.5 / count for count in range(1, length + 1))
        requant = Requant(scale=scale, zero_point=-4, low=-128, high=127)
        window = _window(length, 1, 1, (0, 0))
        attributes: dict[str, Attribute] = {
            **window, "x_zero_point": 3, "count_include_pad": 0, "output_type": "i8", "requant": requant,
        }  # fmt: skip
        return self.sketch.node("QAveragePool", (x,), attributes)

    def add(self, a: str, b: str) -> str:
        attributes: dict[str, Attribute] = {
            "a_scale": 0.6, "b_scale": 0.5, "a_zero_point": 3, "b_zero_point": 3, "zero_point": 3, "output_type": "i8",
            "low": -128, "high": 127,
        }  # fmt: skip
        return self.sketch.node("QAdd", (a, b), attributes)

    def pad(self, x: str, before: int, after: int = 0) -> str:
        attributes: dict[str, Attribute] = {"mode": "constant", "pads": (0, 0, before, 0, 0, after), "value": 3}
        return self.sketch.node("Pad", (x,), attributes)

    def tcn(self, *, padded: bool = True, length: int = 48) -> Graph:
        """Dilated residual blocks, padded on the left, or cut to what all of them have; and a mean."""
        value = self.conv(self.sketch.input("x", DType.I8, (1, 2, length)), 4, 1)
        for dilation in (1, 2, 4):
            inner = self.conv(self.pad(value, 2 * dilation) if padded else value, 4, dilation=dilation)
            if not padded:
                shape = self.sketch.tensors[inner].shape
                cut: dict[str, Attribute] = {"starts": (0, 0, 2 * dilation), "steps": (1, 1, 1), "shape": shape}
                value = self.sketch.node("Slice", (value,), cut)
            value = self.add(inner, value)
        return self.sketch.finish(self.mean(value))

    def reduced(self) -> Graph:
        """Padded at both ends, and a mean without the axis."""
        value = self.conv(self.sketch.input("x", DType.I8, (1, 2, 40)), 4, 5, pads=(2, 2))
        attributes: dict[str, Attribute] = {
            "axes": (2,), "keepdims": 0, "x_zero_point": 3, "output_type": "i8",
            "requant": Requant(scale=(1.5 / 40,), zero_point=-4, low=-128, high=127),
        }  # fmt: skip
        return self.sketch.finish(self.sketch.node("QReduceMean", (value,), attributes))

    def strided(self) -> Graph:
        """Padded at both ends, two strides, the whole sequence handed out."""
        value = self.conv(self.sketch.input("x", DType.I8, (1, 3, 40)), 4, 5, stride=2, pads=(2, 2))
        value = self.conv(value, 5, 3, stride=2, pads=(1, 1))
        return self.sketch.finish(self.conv(value, 3, 3, pads=(1, 1)))


def _window(taps: int, stride: int, dilation: int, pads: tuple[int, int]) -> dict[str, Attribute]:
    return {"kernel_shape": (taps,), "strides": (stride,), "dilations": (dilation,), "pads": pads, "ceil_mode": 0}


@pytest.fixture
def layers(sketch: Callable[[], Sketch]) -> Layers:
    return Layers(sketch=sketch(), generator=np.random.default_rng(5))


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Makes streams of networks, and compares them with windows."""

    operators: Mapping[str, Operator]

    def of(self, graph: Graph, axis: int, hop: int, sliding: str = "x") -> Slid:
        return slid(graph, self.operators, sliding, axis, hop)

    def wrong_calls(self, stream: Slid, calls: int = 0, *, tolerance: float = 0.0, seed: int = 0) -> list[int]:
        """The calls whose outputs and states are not those of the whole network on the window at that time."""
        graph, generator = stream.graph, np.random.default_rng(seed)
        count = calls or stream.warm_up + 12
        frames = [self._drawn(graph, stream, generator) for _ in range(count)]
        states = {state.input: state.initial for state in stream.states}
        wrong, expected_of = [], stream.expected()
        for number, (frame, window) in enumerate(zip(frames, stream.windows(frames), strict=True)):
            values = run(graph, {**frame, **states}, self.operators)
            states = {state.input: values[state.output] for state in stream.states}
            expected = expected_of(run(stream.window, window, self.operators))
            if not all(_close(values[name], array, tolerance) for name, array in expected.items()):
                wrong.append(number)
        return wrong

    def _drawn(self, graph: Graph, stream: Slid, generator: np.random.Generator) -> dict[str, Array]:
        drawn: dict[str, Array] = {}
        for name in stream.window.inputs:
            tensor = graph.tensors[name]
            values = generator.normal(size=tensor.shape) * (1 if tensor.dtype.is_float else 60)
            drawn[name] = np.clip(values, -128, 127).astype(tensor.dtype.numpy)
        return drawn


def _close(one: Array, other: Array, tolerance: float) -> bool:
    if not tolerance:
        return np.array_equal(one, other)
    return bool(np.allclose(np.asarray(one, np.float64), np.asarray(other, np.float64), tolerance, tolerance))


@pytest.fixture
def streams(operators: Mapping[str, Operator]) -> Streams:
    return Streams(operators=operators)
