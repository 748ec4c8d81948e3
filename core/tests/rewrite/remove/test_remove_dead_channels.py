"""Channels that every consumer multiplies by zero disappear; integer results keep every bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.ir.graphs.graph import Attribute, Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.fold.fold_zero_points import PASS as FOLD
from tilewright.rewrite.remove.remove_dead_channels import PASS
from tilewright.testing.sketch import Sketch

Integers = npt.NDArray[np.int8]


class Net:
    """A sketch of integer layers with random weights, in which chosen weights are zero."""

    def __init__(self, sketch: Sketch, seed: int) -> None:
        self.sketch = sketch
        self.generator = np.random.default_rng(seed)

    def weights(self, *shape: int) -> Integers:
        """No element is zero."""
        return self.generator.choice([-3, -2, -1, 1, 2, 3], shape).astype(np.int8)

    def conv(self, x: str, weights: Integers, zero_point: Attribute = 0, group: int = 1, name: str = "") -> str:
        outputs, taps = weights.shape[0], weights.shape[2:]
        border = tuple(extent // 2 for extent in taps)
        attributes: dict[str, Attribute] = {
            "kernel_shape": taps, "strides": (1, 1), "dilations": (1, 1), "pads": border * 2, "group": group,
            "x_zero_point": 5, "pad_value": 5, "w_zero_point": zero_point, "output_type": "i8",
            "requant": Requant(
                scale=tuple(float(np.float32(0.01 + 0.003 * channel)) for channel in range(outputs)),
                zero_point=-3, low=-128, high=127,
            ),
        }  # fmt: skip
        bias = self.generator.integers(-50, 50, (outputs,)).astype(np.int32)
        inputs = (x, self.sketch.constant(weights), self.sketch.constant(bias))
        return self.sketch.node("QConv", inputs, attributes, name)

    def dense(self, x: str, weights: Integers) -> str:
        requant = Requant(scale=(0.0625,), zero_point=1, low=-128, high=127)
        attributes: dict[str, Attribute] = {"a_zero_point": -3, "requant": requant, "output_type": "i8"}
        return self.sketch.node("QGemm", (x, self.sketch.constant(weights)), attributes)

    def add(self, a: str, b: str) -> str:
        attributes: dict[str, Attribute] = {
            "a_scale": 0.5, "b_scale": 0.25, "a_zero_point": -3, "b_zero_point": -3, "zero_point": -3,
            "low": -128, "high": 127, "output_type": "i8",
        }  # fmt: skip
        return self.sketch.node("QAdd", (a, b), attributes)

    def table(self, x: str) -> str:
        values: Integers = self.generator.integers(-128, 128, 256).astype(np.int8)
        return self.sketch.node("QLookup", (x, self.sketch.constant(values)))


@pytest.fixture
def net(sketch: Callable[[], Sketch]) -> Callable[[int], Net]:
    return lambda seed: Net(sketch(), seed)


def widths(graph: Graph) -> list[int]:
    return [graph.tensors[node.outputs[0]].shape[1] for node in graph.nodes]


def narrowed(bench: Any, graph: Graph) -> Graph:
    after: Graph = bench.apply(graph, PASS)
    assert bench.same_bits(graph, after)
    assert bench.same_bits(graph, bench.apply(after, FOLD))
    return after


@pytest.mark.parametrize("zero_point", [0, 2])
def test_a_convolution_loses_what_the_next_ignores(zero_point: int, net: Any, bench: Any) -> None:
    n = net(0)
    second = n.weights(5, 8, 1, 1)
    second[second == zero_point] = 1
    second[:, [1, 6]] = zero_point
    y = n.conv(n.conv(n.sketch.input("x", DType.I8, (1, 3, 5, 5)), n.weights(8, 3, 3, 3)), second, zero_point)
    graph = n.sketch.finish(y)
    after = narrowed(bench, graph)
    assert widths(after) == [6, 5]
    assert len(after.nodes[0].requant().scale) == 6
    assert bench.macs(after) == 25 * (6 * 27 + 5 * 6)


def test_weights_keep_the_zero_points_of_the_channels_that_stay(net: Any, bench: Any) -> None:
    n = net(0)
    second = n.weights(5, 8, 1, 1)
    second[:, [1, 6]] = 0
    zero_points = tuple(range(8))  # each channel's own
    y = n.conv(n.conv(n.sketch.input("x", DType.I8, (1, 3, 5, 5)), n.weights(8, 3, 3, 3), zero_points), second)
    after = narrowed(bench, n.sketch.finish(y))
    assert after.nodes[0].attributes["w_zero_point"] == (0, 2, 3, 4, 5, 7)


def test_death_spreads_backwards_through_everything_that_keeps_channels_apart(net: Any, bench: Any) -> None:
    n = net(1)
    last = n.weights(4, 8, 1, 1)
    last[:, :3] = 0
    y = n.conv(n.sketch.input("x", DType.I8, (1, 3, 6, 6)), n.weights(8, 3, 1, 1))
    y = n.table(n.conv(y, n.weights(8, 1, 3, 3), group=8))
    pool = {"kernel_shape": (2, 2), "strides": (2, 2), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0}
    y = n.sketch.node("MaxPool", (y,), pool)
    after = narrowed(bench, n.sketch.finish(n.conv(y, last)))
    assert widths(after) == [5, 5, 5, 5, 4]
    assert after.nodes[1].integer("group") == 5


def test_a_residual_keeps_what_either_side_needs(net: Any, bench: Any) -> None:
    n = net(2)
    x = n.sketch.input("x", DType.I8, (1, 3, 4, 4))
    a, b = n.conv(x, n.weights(6, 3, 1, 1)), n.conv(x, n.weights(6, 3, 1, 1))
    total, side = n.weights(2, 6, 1, 1), n.weights(2, 6, 1, 1)
    total[:, [0, 1, 2]] = 0
    side[:, [0, 2, 3]] = 0
    graph = n.sketch.finish(n.conv(n.add(a, b), total), n.conv(a, side))
    assert widths(narrowed(bench, graph)) == [4, 4, 4, 2, 2]


def test_concat_and_flatten_translate_channels(net: Any, bench: Any) -> None:
    n = net(3)
    x = n.sketch.input("x", DType.I8, (2, 3, 2, 2))
    parts = [n.conv(x, n.weights(count, 3, 1, 1)) for count in (4, 3)]
    y = n.sketch.node("Concat", parts, {"axis": 1})
    weights = n.weights(28, 5)
    weights[0:4] = 0  # channel 0 of the first part
    weights[8:11] = 0  # three quarters of channel 2: not enough
    weights[24:28] = 0  # the last channel of the second part
    graph = n.sketch.finish(n.dense(n.sketch.node("Reshape", (y,), {"shape": (2, 28)}), weights))
    after = narrowed(bench, graph)
    assert widths(after) == [3, 2, 5, 20, 5]


def test_a_group_goes_as_a_whole_or_not(net: Any, bench: Any) -> None:
    n = net(4)
    last = n.weights(3, 8, 1, 1)
    last[:, [0, 1, 2]] = 0  # groups are (0, 1), (2, 3), ...
    y = n.conv(n.sketch.input("x", DType.I8, (1, 3, 4, 4)), n.weights(12, 3, 1, 1))
    y = n.conv(y, n.weights(8, 3, 1, 1), group=4)
    after = narrowed(bench, n.sketch.finish(n.conv(y, last)))
    assert widths(after) == [9, 6, 3]


def test_inputs_outputs_and_unknown_operators_keep_their_channels(net: Any, bench: Any) -> None:
    n = net(5)
    first = n.weights(4, 3, 1, 1)
    first[:, 1] = 0
    last = n.weights(2, 4, 1, 1)
    last[:, 0] = 0
    seen = n.conv(n.sketch.input("x", DType.I8, (1, 3, 4, 4)), first)
    turned = n.sketch.node("Transpose", (n.conv(seen, last),), {"perm": (0, 2, 3, 1)})
    graph = n.sketch.finish(seen, turned)
    assert bench.apply(graph, PASS) is graph


def test_nothing_becomes_empty(net: Any, bench: Any) -> None:
    n = net(6)
    y = n.conv(n.sketch.input("x", DType.I8, (1, 3, 4, 4)), n.weights(4, 3, 1, 1))
    after = narrowed(bench, n.sketch.finish(n.conv(y, np.zeros((2, 4, 1, 1), np.int8))))
    assert widths(after) == [1, 2]


@pytest.mark.slow
@given(
    seed=st.integers(0, 2**32 - 1),
    plan=st.lists(st.sampled_from("cdgtas"), min_size=1, max_size=7),
    dead=st.floats(0, 1),
)
@settings(max_examples=40, deadline=None)
def test_random_networks_keep_every_bit(seed: int, plan: list[str], dead: float, operators: Any, bench: Any) -> None:
    """c: convolution, d: depthwise, g: two groups, t: table, a: add an earlier value, s: concat with itself."""
    n = Net(Sketch(operators=operators), seed)
    y = n.conv(n.sketch.input("x", DType.I8, (1, 3, 3, 3)), n.weights(8, 3, 1, 1))
    earlier = y
    for step in plan:
        width = n.sketch.tensors[y].shape[1]
        if step == "c":
            weights = n.weights(8, width, 1, 1)
            weights[:, n.generator.random(width) < dead] = 0
            y = n.conv(y, weights)
            earlier = y if n.generator.random() < 0.5 else earlier
        elif step in "dg":
            group = width if step == "d" else 2
            y = n.conv(y, n.weights(width, width // group, 3, 3), group=group)
        elif step == "t":
            y = n.table(y)
        elif step == "a" and n.sketch.tensors[earlier].shape == n.sketch.tensors[y].shape:
            y = n.add(y, earlier)
        elif step == "s" and width < 32:
            y = n.sketch.node("Concat", (y, y), {"axis": 1})
    last = n.weights(2, n.sketch.tensors[y].shape[1], 1, 1)
    last[:, n.generator.random(last.shape[1]) < dead] = 0
    graph = n.sketch.finish(n.conv(y, last))
    after = narrowed(bench, graph)
    assert bench.macs(after) <= bench.macs(graph)
    assert bench.apply(after, PASS) is after


def test_float_networks_too(sketch: Callable[[], Sketch], bench: Any) -> None:
    s = sketch()
    generator = np.random.default_rng(0)
    first, last = (generator.integers(-3, 4, shape).astype(np.float32) for shape in ((6, 3, 1, 1), (72, 2)))
    last[:24] = 0
    attributes: dict[str, Any] = {
        "kernel_shape": (1, 1),
        "strides": (1, 1),
        "dilations": (1, 1),
        "pads": (0, 0, 0, 0),
        "group": 1,
    }
    y = s.node("Conv", (s.input("x", DType.F32, (1, 3, 3, 4)), s.constant(first)), attributes)
    y = s.node("Mul", (y, s.constant(generator.integers(-3, 4, (6, 1, 1)).astype(np.float32))))
    y = s.node("Reshape", (s.node("Clip", (y,), {"min": 0.0}),), {"shape": (1, 72)})
    graph = s.finish(s.node("Gemm", (y, s.constant(last))))
    after = bench.apply(graph, PASS)
    assert widths(after) == [4, 4, 4, 48, 2]
    for one, other in zip(bench.outputs(graph), bench.outputs(after), strict=True):
        assert np.allclose(one, other, rtol=1e-6)
