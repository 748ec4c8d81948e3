"""Knows how to draw whole quantised networks of several kinds, as quantisers write them: QDQ around every operator.
Does not know any target, nor what a rewrite makes of them.

Scales come from the values that the network computes for one random input, so that every step uses its range.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.sketch import Sketch

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Windows = dict[str, Attribute]


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomNetwork:
    """A graph, and values for its inputs."""

    graph: Graph
    feeds: Mapping[str, Array]


def random_network(kind: str, seed: int, operators: Mapping[str, Operator]) -> RandomNetwork:
    """One of `KINDS`; the same for the same seed."""
    import numpy as np

    rng = np.random.default_rng([seed, *kind.encode()])
    dtype = (DType.I8, DType.U8)[seed % 2]
    draft = _Draft(
        rng=rng,
        sketch=Sketch(operators=operators),
        operators=operators,
        dtype=dtype,
        per_channel=bool(seed // 2 % 2),
        symmetric=dtype is DType.I8 and seed % 3 == 0,
    )
    outputs = KINDS[kind](draft)
    graph = draft.sketch.finish(*outputs)
    return RandomNetwork(graph=graph, feeds={name: draft.values[name] for name in graph.inputs})


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A network being drawn. Methods take and return names of dequantised values."""

    rng: np.random.Generator
    sketch: Sketch
    operators: Mapping[str, Operator]
    dtype: DType
    per_channel: bool
    symmetric: bool
    values: dict[str, Array] = field(default_factory=dict)

    def chance(self, probability: float) -> bool:
        """True as often as that."""
        return bool(self.rng.random() < probability)

    def number(self, *choices: int) -> int:
        """One of these."""
        return int(self.rng.choice(choices))

    def shape(self, value: str) -> tuple[int, ...]:
        """Of a value."""
        return self.sketch.tensors[value].shape

    def input(self, shape: Sequence[int]) -> str:
        """A graph input, quantised at once."""
        import numpy as np

        name = self.sketch.input(f"x{len(self.sketch.inputs)}", DType.F32, shape)
        self.values[name] = self.rng.normal(0, 1, shape).astype(np.float32)
        return self.quantised(name)

    def node(self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None) -> str:
        """A node, and its value."""
        name = self.sketch.node(op, inputs, attributes)
        site = self.sketch.graph(()).site(self.sketch.nodes[-1])
        known = {**self.sketch.constants, **self.values}
        (self.values[name],) = self.operators[op].reference(site, [known[source] for source in inputs])
        return name

    def quantised(self, value: str) -> str:
        """QuantizeLinear and DequantizeLinear for the range that the value has."""
        import numpy as np

        array = self.values[value]
        least, most = min(float(array.min()), 0.0), max(float(array.max()), 1e-3)
        low, high = self.dtype.limits
        scale, zero = (most - least) / 255, 0
        if self.symmetric:
            scale = max(most, -least) / 127
        else:
            zero = int(np.clip(round(low - least / scale), low, high))
        return self.with_scale(value, scale, zero)

    def with_scale(self, value: str, scale: float, zero: int) -> str:
        """QuantizeLinear and DequantizeLinear with these numbers."""
        import numpy as np

        numbers = [
            self.sketch.constant(np.array(scale, np.float32)),
            self.sketch.constant(np.array(zero, self.dtype.numpy)),
        ]
        stored = self.node("QuantizeLinear", (value, *numbers), {"to": self.dtype.value})
        return self.node("DequantizeLinear", (stored, *numbers))

    def weights(self, shape: Sequence[int], axis: int) -> tuple[str, npt.NDArray[np.float32]]:
        """Dequantised int8 weights, and their scales: one, or one for each entry of `axis`."""
        import numpy as np

        array = self.sketch.constant(self.rng.integers(-127, 128, tuple(shape)).astype(np.int8))
        count = shape[axis] if self.per_channel else 1
        scales = (self.rng.uniform(0.5, 2, count) / 127).astype(np.float32)
        stored = scales if self.per_channel else scales[0]
        numbers = [self.sketch.constant(np.asarray(stored)), self.sketch.constant(np.zeros(np.shape(stored), np.int8))]
        attributes: dict[str, Attribute] = {"axis": axis} if self.per_channel else {}
        return self.node("DequantizeLinear", (array, *numbers), attributes), scales

    def bias(self, count: int, x: str, scales: npt.NDArray[np.float32]) -> str:
        """A dequantised int32 bias."""
        import numpy as np

        x_scale = float(self.sketch.constants[self.sketch.nodes[self._maker(x)].inputs[1]])
        values = self.sketch.constant(self.rng.integers(-2000, 2000, count).astype(np.int32))
        stored = scales * x_scale if self.per_channel else (scales * x_scale)[0]
        zeros = np.zeros(np.shape(stored), np.int32)
        numbers = [self.sketch.constant(np.asarray(stored, np.float32)), self.sketch.constant(zeros)]
        return self.node("DequantizeLinear", (values, *numbers), {"axis": 0} if self.per_channel else {})

    def _maker(self, value: str) -> int:
        return next(index for index, node in enumerate(self.sketch.nodes) if value in node.outputs)

    def windows(
        self, x: str, kernel: Sequence[int], stride: int = 1, dilation: int = 1, pads: Sequence[int] = ()
    ) -> Windows:
        """Attributes of a Conv or pool over `x`; without `pads`, those that keep the extents at stride 1."""
        rank = len(self.shape(x)) - 2
        reach = [(taps - 1) * dilation for taps in kernel]
        same = (*(part // 2 for part in reach), *(part - part // 2 for part in reach))
        return {
            "kernel_shape": tuple(kernel), "strides": (stride,) * rank, "dilations": (dilation,) * rank,
            "pads": tuple(pads) or same, "ceil_mode": 0,
        }  # fmt: skip

    def conv(
        self, x: str, outputs: int, kernel: Sequence[int], stride: int = 1, dilation: int = 1, group: int = 1
    ) -> str:
        """Conv, most often with an activation, requantised."""
        inside = self.shape(x)[1] // group
        windows = self.windows(x, kernel, stride, dilation)
        if self.chance(0.3) and min(self.shape(x)[2:]) > dilation * (max(kernel) - 1):
            windows = self.windows(
                x, kernel, stride, dilation, [self.number(0, taps // 2) for taps in (*kernel, *kernel)]
            )
        w, scales = self.weights((outputs, inside, *kernel), 0)
        inputs = (x, w, self.bias(outputs, x, scales)) if self.chance(0.8) else (x, w)
        return self.activated(self.node("Conv", inputs, {**windows, "group": group}))

    def same(self, x: str, outputs: int, size: int, stride: int = 1, group: int = 1) -> str:
        """Conv with so many taps along each axis, padded so that at stride 1 the extents stay; requantised."""
        kernel = (size,) * (len(self.shape(x)) - 2)
        w, scales = self.weights((outputs, self.shape(x)[1] // group, *kernel), 0)
        inputs = (x, w, self.bias(outputs, x, scales)) if self.chance(0.8) else (x, w)
        return self.activated(self.node("Conv", inputs, {**self.windows(x, kernel, stride), "group": group}))

    def activated(self, value: str) -> str:
        """Nothing, or one of the common activations; quantised."""
        kinds = ["Relu", "Relu", "Relu", "Relu6", "Relu6", "HardSwish", "Sigmoid", "LeakyRelu", "", ""]
        kind = kinds[int(self.rng.integers(len(kinds)))]
        if kind in ("Relu", "Relu6"):
            value = self.node("Clip", (value,), {"min": 0.0, "max": 6.0} if kind == "Relu6" else {"min": 0.0})
        elif kind:
            value = self.node(kind, (self.quantised(value),), {"alpha": 0.125} if kind == "LeakyRelu" else {})
        return self.quantised(value)

    def dense(self, x: str, outputs: int) -> str:
        """MatMul with constant weights and Add, as exporters write a fully connected layer over the last axis."""
        depth = self.shape(x)[-1]
        w, scales = self.weights((depth, outputs), 1)
        y = self.node("MatMul", (x, w))
        if self.chance(0.7):
            y = self.node("Add", (y, self.bias(outputs, x, scales)))
        return self.activated(y)

    def classifier(self, x: str) -> str:
        """Global mean, fully connected, softmax or not."""
        whole = self.windows(x, self.shape(x)[2:], pads=(0,) * (2 * (len(self.shape(x)) - 2)))
        pooled = self.quantised(self.node("AveragePool", (x,), {**whole, "count_include_pad": 0}))
        flat = self.node("Reshape", (pooled,), {"shape": (1, self.shape(pooled)[1])})
        y = self.dense(self.requantised_as(flat, pooled), self.number(2, 5, 10, 13))
        if self.chance(0.6):
            y = self.with_scale(self.node("Softmax", (y,), {"axis": 1}), 1 / 256, self.dtype.limits[0])
        return y

    def requantised_as(self, value: str, source: str) -> str:
        """Movement keeps a value's scale: the numbers of `source` again."""
        numbers = self.sketch.nodes[self._maker(source)].inputs[1:]
        stored = self.node("QuantizeLinear", (value, *numbers), {"to": self.dtype.value})
        return self.node("DequantizeLinear", (stored, *numbers))

    def moved(self, op: str, x: str, attributes: Mapping[str, Attribute]) -> str:
        """Reshape, Transpose or MaxPool of a quantised value."""
        return self.requantised_as(self.node(op, (x,), attributes), x)


def _cnn(draft: _Draft) -> tuple[str, ...]:
    """Convolutions of any kernel, pools, residuals, concatenation."""
    size, channels = draft.number(9, 12, 17), draft.number(3, 8, 11, 16)
    x = draft.input((1, draft.number(1, 2, 3), size, draft.number(8, 13, 16)))
    x = draft.conv(x, channels, [draft.number(1, 3, 5) for _ in range(2)], draft.number(1, 2))
    for _ in range(draft.number(2, 3, 4)):
        kernel = [draft.number(1, 2, 3, 5) for _ in range(2)]
        group = draft.number(1, 1, 1, 2) if channels % 2 == 0 else 1
        y = draft.conv(x, channels, kernel, 1, draft.number(1, 1, 2), group)
        if draft.shape(y) == draft.shape(x) and draft.chance(0.6):
            y = draft.activated(draft.node(("Add", "Mul")[draft.number(0, 0, 0, 1)], (x, y)))
        elif draft.chance(0.3):
            y = draft.conv(y, channels + draft.number(1, 4, 5), (1, 1))
        x, channels = y, draft.shape(y)[1]
        if min(draft.shape(x)[2:]) >= 4 and draft.chance(0.5):
            windows = draft.windows(x, (draft.number(2, 3),) * 2, draft.number(1, 2), pads=(0, 0, 0, 0))
            x = (
                draft.moved("MaxPool", x, windows)
                if draft.chance(0.5)
                else draft.quantised(draft.node("AveragePool", (x,), {**windows, "count_include_pad": 0}))
            )
    return (draft.classifier(x),)


def _mobile(draft: _Draft) -> tuple[str, ...]:
    """Inverted bottlenecks with squeeze and excitation."""
    x = draft.conv(draft.input((1, 3, draft.number(12, 16, 19), 16)), draft.number(8, 13, 16), (3, 3), 2)
    for _ in range(draft.number(2, 3)):
        inside, channels = draft.shape(x)[1], draft.shape(x)[1] * draft.number(1, 2, 3)
        size, stride = draft.number(3, 3, 5, 7), draft.number(1, 1, 2)
        y = draft.conv(x, channels, (1, 1))
        y = draft.conv(y, channels, (size, size), stride, draft.number(1, 1, 1, 2), channels)
        if draft.chance(0.5):
            y = _squeezed(draft, y)
        outputs = inside if stride == 1 else draft.number(8, 12, 21)
        y = draft.conv(y, outputs, (1, 1))
        x = draft.quantised(draft.node("Add", (x, y))) if draft.shape(x) == draft.shape(y) else y
    return (draft.classifier(x),)


def _bottleneck(draft: _Draft) -> tuple[str, ...]:
    """Inverted bottlenecks over an image that is large beside its channels, residuals among them; odd channels."""
    size = draft.number(20, 25, 32)
    x = draft.same(draft.input((1, 3, size, size)), draft.number(5, 8, 11), 3, 2)
    for _ in range(draft.number(2, 3, 4)):
        inside = draft.shape(x)[1]
        hidden = inside * draft.number(2, 3, 4) + draft.number(0, 1)
        stride = draft.number(1, 1, 2) if min(draft.shape(x)[2:]) >= 6 else 1
        y = draft.same(draft.same(x, hidden, 1), hidden, draft.number(3, 3, 5, 7), stride, hidden)
        y = draft.same(y, inside if stride == 1 else draft.number(7, 9, 12), 1)
        meets = draft.shape(x) == draft.shape(y) and draft.chance(0.6)
        x = draft.quantised(draft.node("Add", (x, y))) if meets else y
    return (draft.classifier(x),)


def _branched(draft: _Draft) -> tuple[str, ...]:
    """Branches that part and meet over an image or a signal: residuals with their own shortcuts, concatenations, more
    positions again. Sometimes the image itself is an output, or a value from the middle as well.
    """
    spatial = [draft.number(12, 17, 24), draft.number(4, 5, 8)] if draft.chance(0.75) else [draft.number(40, 63)]
    x = draft.conv(draft.input((1, draft.number(1, 3), *spatial)), draft.number(4, 8, 11), [3] * len(spatial))
    middle = x
    for _ in range(draft.number(2, 3, 4)):
        x = (_parted, _beside, _spread)[draft.number(0, 0, 1, 1, 2)](draft, x)
        middle = x if draft.chance(0.3) else middle
    last = draft.classifier(x) if draft.chance(0.7) else x
    return (last, middle) if draft.chance(0.2) and middle not in (x, last) else (last,)


def _parted(draft: _Draft, x: str) -> str:
    """A chain and a shortcut, which is nothing, or a convolution where positions or channels differ."""
    size = draft.number(1, 3, 3, 5)
    stride = draft.number(1, 1, 2) if min(draft.shape(x)[2:]) >= 4 else 1
    y = draft.same(draft.same(x, draft.number(4, 8), 1), draft.shape(x)[1], size, stride)
    other = x if stride == 1 and draft.chance(0.6) else draft.same(x, draft.shape(x)[1], 1, stride)
    return draft.activated(draft.node("Add", (y, other)))


def _beside(draft: _Draft, x: str) -> str:
    """Branches, one after the other along the channels."""
    branches = [draft.same(x, draft.number(2, 4, 7), draft.number(1, 3, 3)) for _ in range(draft.number(1, 2))]
    return draft.quantised(draft.node("Concat", (*branches, x), {"axis": 1}))


def _spread(draft: _Draft, x: str) -> str:
    """Twice as many positions, then a convolution; or a depthwise one where there are many."""
    rank, channels = len(draft.shape(x)) - 2, draft.shape(x)[1]
    if max(draft.shape(x)[2:]) > 24:
        return draft.same(x, channels, 3, group=channels)
    return draft.same(draft.moved("Upsample", x, {"factors": (1, 1, *(2,) * rank)}), channels, 3)


def _squeezed(draft: _Draft, x: str) -> str:
    channels = draft.shape(x)[1]
    s = draft.quantised(draft.node("ReduceMean", (x,), {"axes": (2, 3), "keepdims": 1}))
    s = draft.conv(draft.conv(s, max(2, channels // 4), (1, 1)), channels, (1, 1))
    if draft.shape(s)[2:] != (1, 1):  # padded
        return x
    return draft.quantised(draft.node("Mul", (x, draft.quantised(draft.node("Sigmoid", (s,))))))


def _sequence(draft: _Draft) -> tuple[str, ...]:
    """Convolutions over time: dilated, strided, depthwise."""
    x = draft.input((1, draft.number(1, 5, 12), draft.number(40, 63, 100)))
    for _ in range(draft.number(3, 4)):
        channels = draft.shape(x)[1]
        depthwise = channels >= 4 and draft.chance(0.4)
        outputs = channels if depthwise else draft.number(4, 9, 16, 24)
        kernel = (draft.number(1, 3, 5, 9),)
        x = draft.conv(x, outputs, kernel, draft.number(1, 2), draft.number(1, 2), channels if depthwise else 1)
    return (draft.classifier(x),)


def _attention(draft: _Draft) -> tuple[str, ...]:
    """One or two blocks of attention with several heads, and the layers behind them."""
    length, heads, width = draft.number(5, 12, 20), draft.number(1, 2, 4), draft.number(4, 7, 16)
    x = draft.input((1, length, heads * width))
    for _ in range(draft.number(1, 2)):
        q, k, v = (_heads(draft, draft.dense(x, heads * width), heads, turned=name == "k") for name in "qkv")
        scores = draft.quantised(draft.node("MatMul", (q, k)))
        weights = draft.with_scale(draft.node("Softmax", (scores,), {"axis": 3}), 1 / 256, draft.dtype.limits[0])
        y = draft.quantised(draft.node("MatMul", (weights, v)))
        y = draft.moved("Transpose", y, {"perm": (0, 2, 1, 3)})
        y = draft.dense(draft.moved("Reshape", y, {"shape": draft.shape(x)}), heads * width)
        x = draft.quantised(draft.node("Add", (x, y)))
        y = draft.dense(draft.dense(x, 2 * heads * width + 1), heads * width)
        x = draft.quantised(draft.node("Add", (x, y)))
    return (draft.dense(draft.quantised(draft.node("ReduceMean", (x,), {"axes": (1,), "keepdims": 0})), 6),)


def _heads(draft: _Draft, x: str, heads: int, turned: bool) -> str:
    _, length, depth = draft.shape(x)
    split = draft.moved("Reshape", x, {"shape": (1, length, heads, depth // heads)})
    return draft.moved("Transpose", split, {"perm": (0, 2, 3, 1) if turned else (0, 2, 1, 3)})


KINDS: Mapping[str, Callable[[_Draft], tuple[str, ...]]] = MappingProxyType(
    {
        "cnn": _cnn,
        "mobile": _mobile,
        "sequence": _sequence,
        "attention": _attention,
        "branched": _branched,
        "bottleneck": _bottleneck,
    }
)
