"""What integers at the border stand for is read off the nodes next to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.ir.graphs.graph import Quantization

Make = Callable[..., onnx.ModelProto]
SCALES = {"s": np.float32(0.1), "z": np.int8(-3), "t": np.float32(0.5), "channels": np.array([0.1, 0.2], np.float32)}
HALF = Quantization(scale=(0.5,), zero_point=(0,))
TENTH = Quantization(scale=(float(np.float32(0.1)),), zero_point=(-3,))


@pytest.fixture(name="border")
def _border(model: Make, loads: Any) -> Callable[..., tuple[Quantization | None, Quantization | None]]:
    """What x, int8 of 1x2x4x4, and y stand for in a network of these nodes."""

    def read(*nodes: Sequence[Any], **attributes: Any) -> tuple[Quantization | None, Quantization | None]:
        made = [helper.make_node(op, list(inputs), [output], **attributes.get(op, {})) for op, inputs, output in nodes]
        constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in SCALES.items()]
        constants.append(numpy_helper.from_array(np.array([1, 32], np.int64), "flat"))
        x = helper.make_tensor_value_info("x", TensorProto.INT8, [1, 2, 4, 4])
        y = helper.make_tensor_value_info("y", TensorProto.UNDEFINED, None)
        y.type.tensor_type.elem_type = TensorProto.INT8
        graph = loads(model(made, inputs=[x], outputs=[y], constants=constants)).graph
        return graph.tensors["x"].quantization, graph.tensors["y"].quantization

    return read


DEQUANTISE, RELU = ("DequantizeLinear", ("x", "s", "z"), "r"), ("Relu", ("r",), "p")


def test_the_nodes_at_the_border_say_it(border: Any) -> None:
    assert border(DEQUANTISE, RELU, ("QuantizeLinear", ("p", "s", "z"), "y")) == (TENTH, TENTH)


def test_a_tensor_that_is_only_moved_still_means_the_same(border: Any) -> None:
    pool = {"MaxPool": {"kernel_shape": [2, 2]}}
    nodes = (("MaxPool", ("x",), "m"), ("DequantizeLinear", ("m", "s", "z"), "r"), RELU)
    ends = (("QuantizeLinear", ("p", "s", "z"), "q"), ("Transpose", ("q",), "y"))
    assert border(*nodes, *ends, **pool) == (TENTH, TENTH)


def test_a_missing_zero_point_is_zero(border: Any) -> None:
    assert border(("DequantizeLinear", ("x", "t"), "r"), RELU, ("QuantizeLinear", ("p", "s", "z"), "y"))[0] == HALF


def test_readers_that_differ_say_nothing(border: Any) -> None:
    nodes = (DEQUANTISE, ("DequantizeLinear", ("x", "t"), "u"), ("Add", ("r", "u"), "p"))
    assert border(*nodes, ("QuantizeLinear", ("p", "s", "z"), "y")) == (None, TENTH)


def test_a_scale_for_each_channel_says_nothing_of_the_whole(border: Any) -> None:
    found = border(("DequantizeLinear", ("x", "channels"), "r"), RELU, ("QuantizeLinear", ("p", "s", "z"), "y"))
    assert found == (None, TENTH)


def test_integers_that_nothing_dequantises_mean_nothing(border: Any) -> None:
    assert border(("Reshape", ("x", "flat"), "y")) == (None, None)
