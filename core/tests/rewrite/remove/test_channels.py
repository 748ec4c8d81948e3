"""Which channels matter: operator by operator, what one needed channel of the output asks of the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.rewrite.remove import channels
from tilewright.rewrite.remove.channels import needed_channels
from tilewright.testing.sketch import Sketch

POINT: dict[str, Attribute] = {
    "kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0, "group": 1
}  # fmt: skip


class Net:
    """A sketch with point convolutions whose weights say who reads whom."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch = sketch

    def make(self, channels: int, name: str = "x") -> str:
        """A value whose channels all come from a graph input, and which nothing else needs."""
        return self.conv(self.sketch.input(name, DType.F32, (1, 2, 3, 3)), np.ones((channels, 2)))

    def conv(self, x: str, weights: Any, group: int = 1) -> str:
        array = np.asarray(weights, np.float32)[:, :, None, None]
        return self.sketch.node("Conv", (x, self.sketch.constant(array)), {**POINT, "group": group})

    def reads(self, x: str, *channels: int) -> str:
        """An output that needs these channels of `x`."""
        weights = np.zeros((1, self.sketch.tensors[x].shape[1]))
        weights[0, list(channels)] = 1
        return self.conv(x, weights)

    def needed(self, value: str, *outputs: str) -> list[int]:
        return np.flatnonzero(needed_channels(self.sketch.finish(*outputs))[value]).tolist()


@pytest.fixture
def net(sketch: Callable[[], Sketch]) -> Net:
    return Net(sketch())


def test_weights_that_are_zero(net: Net) -> None:
    x = net.make(4)
    assert net.needed(x, net.reads(x, 1, 3)) == [1, 3]


def test_a_zero_point_is_the_zero_of_integers(sketch: Callable[[], Sketch]) -> None:
    s = sketch()
    requant = Requant(scale=(0.1,), zero_point=0, low=-128, high=127)
    attributes: dict[str, Attribute] = {"requant": requant, "b_zero_point": 5}
    every = s.constant(np.ones((2, 3), np.int8))
    some = s.constant(np.array([[5, 1], [5, 5], [0, 5]], np.int8))  # [inputs, outputs]
    y = s.node("QGemm", (s.input("x", DType.I8, (1, 2)), every), attributes)
    graph = s.finish(s.node("QGemm", (y, some), attributes))
    assert needed_channels(graph)[y].tolist() == [True, False, True]


def test_every_operator_named_is_one_of_the_vocabulary(operators: Any) -> None:
    assert set(channels.RELATIONS) <= set(operators)


@pytest.mark.parametrize(("op", "attributes"), [
    ("Clip", {"min": 0.0}), ("ReduceMean", {"axes": (2, 3), "keepdims": 1}),
    ("MaxPool", {**POINT, "kernel_shape": (2, 2)}),
])  # fmt: skip
def test_operators_that_keep_channels_apart(net: Net, op: str, attributes: dict[str, Attribute]) -> None:
    x = net.make(4)
    attributes = {name: value for name, value in attributes.items() if name != "group"}
    assert net.needed(x, net.reads(net.sketch.node(op, (x,), attributes), 2)) == [2]


@pytest.mark.parametrize(("op", "attributes"), [
    ("Softmax", {"axis": 1}), ("ReduceMean", {"axes": (1,), "keepdims": 1}), ("Transpose", {"perm": (0, 1, 3, 2)}),
])  # fmt: skip
def test_operators_that_may_mix_them(net: Net, op: str, attributes: dict[str, Attribute]) -> None:
    x = net.make(4)
    y = net.sketch.node(op, (x,), attributes)
    assert net.needed(x, net.reads(y, 0)) == [0, 1, 2, 3]


def test_both_sides_of_a_sum(net: Net) -> None:
    """What one reader needs of one side, the other must keep too."""
    a, b = net.make(3, "a"), net.make(3, "b")
    total = net.sketch.node("Add", (a, b))
    outputs = net.reads(total, 0), net.reads(b, 2)
    assert net.needed(a, *outputs) == net.needed(b, *outputs) == net.needed(total, *outputs) == [0, 2]


def test_one_channel_for_all(net: Net) -> None:
    """A side that broadcasts is kept whole, and ties nothing."""
    a, b = net.make(3, "a"), net.make(1, "b")
    total = net.sketch.node("Mul", (a, b))
    assert (net.needed(a, net.reads(total, 1)), net.needed(b, net.reads(total, 1))) == ([1], [0])


def test_groups_stay_whole(net: Net) -> None:
    x = net.make(4)
    y = net.conv(x, np.ones((4, 2)), group=2)
    assert net.needed(x, net.reads(y, 3)) == net.needed(y, net.reads(y, 3)) == [2, 3]


def test_parts_that_are_joined(net: Net) -> None:
    a, b = net.make(2, "a"), net.make(3, "b")
    y = net.reads(net.sketch.node("Concat", (a, b), {"axis": 1}), 1, 2)
    assert (net.needed(a, y), net.needed(b, y)) == ([1], [0])


def test_a_flattened_channel_is_a_run(net: Net) -> None:
    """[1, 4, 3, 3] -> [1, 36]: element 20 belongs to channel 2, and channel 2 is elements 18 to 26."""
    x = net.make(4)
    flat = net.sketch.node("Reshape", (x,), {"shape": (1, 36)})
    weights = np.zeros((36, 1), np.float32)
    weights[20] = 1
    y = net.sketch.node("Gemm", (flat, net.sketch.constant(weights)))
    assert net.needed(x, y) == [2]
    assert net.needed(flat, y) == list(range(18, 27))


def test_a_batch_that_changes(net: Net) -> None:
    x = net.make(4)
    y = net.sketch.node("Reshape", (x,), {"shape": (2, 2, 3, 3)})
    assert net.needed(x, net.reads(y, 0)) == [0, 1, 2, 3]


def test_nothing_becomes_empty(net: Net) -> None:
    x = net.make(4)
    assert net.needed(x, net.reads(x)) == [0]


def test_borders_are_whole(net: Net) -> None:
    x = net.make(2)
    y = net.sketch.node("Clip", (x,), {"min": 0.0})
    assert net.needed("x", y) == net.needed(y, y) == [0, 1]
