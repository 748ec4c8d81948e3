"""A float border becomes the integers behind it, bit by bit the same, or it is said why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.errors import TilewrightError
from tilewright.frontend.border import with_integer_border
from tilewright.ir.graphs.graph import Graph, Quantization
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

QUANTISE, DEQUANTISE = "QuantizeLinear", "DequantizeLinear"
INT8 = {"x": DType.I8, "y": DType.I8}
INSIDE = ((QUANTISE, ("x", "s", "z"), "q"), (DEQUANTISE, ("q", "s", "z"), "r"), ("Relu", ("r",), "p"))
OUTSIDE = ((QUANTISE, ("p", "t", "z"), "h"), (DEQUANTISE, ("h", "t", "z"), "y"))


@pytest.fixture(name="network")
def _network(model: Callable[..., onnx.ModelProto], loads: Any) -> Callable[..., Graph]:
    """The graph of these nodes: float x of 1x4 to y."""

    def make(*nodes: Sequence[Any], outputs: Sequence[str] = ("y",)) -> Graph:
        made = [helper.make_node(op, list(inputs), [output]) for op, inputs, output in nodes]
        arrays = {
            "s": np.float32(0.1), "t": np.float32(0.25), "z": np.int8(-3), "u": np.uint8(7),
            "channels": np.full(4, 0.1, np.float32), "one": np.ones(1, np.float32), "turned": np.array([4, 1]),
        }  # fmt: skip
        ends = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs]
        constants = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
        found: Graph = loads(model(made, outputs=ends, constants=constants)).graph
        return found

    return make


def test_the_nodes_at_the_border_go_and_the_numbers_stay(network: Any) -> None:
    graph = with_integer_border(network(*INSIDE, *OUTSIDE), INT8)
    assert [node.op for node in graph.nodes] == [DEQUANTISE, "Clip", QUANTISE]
    assert (graph.inputs, graph.outputs) == (("x",), ("y",))
    x, y = graph.tensors["x"], graph.tensors["y"]
    assert (x.dtype, x.shape, y.dtype) == (DType.I8, (1, 4), DType.I8)
    assert x.quantization == Quantization(scale=(float(np.float32(0.1)),), zero_point=(-3,))
    assert y.quantization == Quantization(scale=(0.25,), zero_point=(-3,))


@pytest.mark.parametrize(
    "nodes",
    [
        (*INSIDE, *OUTSIDE),
        (
            ("Reshape", ("x", "turned"), "m"), (QUANTISE, ("m", "s", "z"), "q"), (DEQUANTISE, ("q", "s", "z"), "r"),
            ("Relu", ("r",), "p"), (QUANTISE, ("p", "t", "z"), "h"), (DEQUANTISE, ("h", "t", "z"), "n"),
            ("Transpose", ("n",), "y"),
        ),
        (*INSIDE, (QUANTISE, ("x", "s", "z"), "again"), (DEQUANTISE, ("again", "s", "z"), "w"),
         ("Add", ("p", "w"), "a"), (QUANTISE, ("a", "t", "z"), "h"), (DEQUANTISE, ("h", "t", "z"), "y")),
    ],
    ids=["as exported", "moved", "quantised twice alike"],
)  # fmt: skip
def test_the_integers_are_those_that_the_model_computes_with(
    network: Any, vocabulary: Mapping[str, Operator], nodes: Any
) -> None:
    before = network(*nodes)
    after = with_integer_border(before, INT8)
    x = np.array([[-13.05, 0.25, 0.75, 40.0]], np.float32)
    first = run(before, {"x": x}, vocabulary)
    stored = np.clip(np.rint(x / np.float32(0.1)) - 3, -128, 127).astype(np.int8)
    last = run(after, {"x": stored}, vocabulary)
    np.testing.assert_array_equal((last["y"].astype(np.float32) + 3) * np.float32(0.25), first["y"])


def test_single_ends_can_be_chosen(network: Any) -> None:
    graph = with_integer_border(network(*INSIDE, *OUTSIDE), {"y": DType.I8})
    assert (graph.tensors["x"].dtype, graph.tensors["y"].dtype) == (DType.F32, DType.I8)
    assert with_integer_border(graph, {"y": DType.I8}) is graph


@pytest.mark.parametrize(
    ("nodes", "wanted", "said"),
    [
        ((("Relu", ("x",), "y"),), INT8, "(Clip) reads it as float"),
        ((*INSIDE, ("Softmax", ("p",), "y")), INT8, "(Softmax) computes it as float"),
        ((*INSIDE, *OUTSIDE), {"x": DType.U8}, "the model quantises it to int8"),
        (((QUANTISE, ("x", "s", "u"), "q"), (DEQUANTISE, ("q", "s", "u"), "r"), ("Relu", ("r",), "p"), *OUTSIDE),
         INT8, "the model quantises it to uint8"),
        (((QUANTISE, ("x", "channels"), "q"), (DEQUANTISE, ("q", "channels"), "r"), ("Relu", ("r",), "p"), *OUTSIDE),
         {"x": DType.U8}, "numbers for each channel"),
        ((*INSIDE, ("Add", ("p", "x"), "a"), (QUANTISE, ("a", "t", "z"), "h"), (DEQUANTISE, ("h", "t", "z"), "y")),
         {"x": DType.I8}, "(Add) reads it as float"),
        ((*INSIDE, (QUANTISE, ("x", "t", "z"), "v"), (DEQUANTISE, ("v", "t", "z"), "w"), ("Add", ("p", "w"), "a"),
          (QUANTISE, ("a", "t", "z"), "h"), (DEQUANTISE, ("h", "t", "z"), "y")), {"x": DType.I8},
         "quantise it differently"),
        (((QUANTISE, ("x", "s", "z"), "q"), (DEQUANTISE, ("q", "s", "z"), "y")), INT8,
         "its integers are those of 'x' already"),
    ],
    ids=["float input", "float output", "another type", "unsigned", "channels", "float reader", "two scales", "empty"],
)  # fmt: skip
def test_what_stands_in_the_way_is_said(network: Any, nodes: Any, wanted: Mapping[str, DType], said: str) -> None:
    with pytest.raises(TilewrightError, match="TW1120") as caught:
        with_integer_border(network(*nodes), wanted)
    assert said in " ".join(caught.value.details)


def test_what_is_possible_is_offered(network: Any) -> None:
    with pytest.raises(TilewrightError) as caught:
        with_integer_border(network(*INSIDE, ("Softmax", ("p",), "y")), INT8)
    assert caught.value.fix == ("--io-type x=int8",)
    graph = network((QUANTISE, ("x", "s", "z"), "q"), (DEQUANTISE, ("q", "s", "z"), "y"))
    with pytest.raises(TilewrightError) as caught:
        with_integer_border(graph, INT8)
    assert caught.value.fix == ("--io-type x=int8",)


def test_one_tensor_is_not_two_outputs(network: Any) -> None:
    graph = network(*INSIDE, *OUTSIDE, (DEQUANTISE, ("h", "t", "z"), "again"), outputs=("y", "again"))
    assert with_integer_border(graph, {"again": DType.I8}).tensors["y"].dtype is DType.F32
    with pytest.raises(TilewrightError, match="those of 'y' already"):
        with_integer_border(graph, {"y": DType.I8, "again": DType.I8})
