"""Values that are read beyond the image are uint8 with zeros there, and results stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.api.graph import DType
from tilewright.config.options import Options
from tilewright.deployment import Deployment

Array = Any


def network(zero: int, *, pooled: bool = False) -> bytes:
    """Convolutions of values with this zero point, and the sum of two; or a pool that reads the first, too."""
    rng = np.random.default_rng(4)
    constants: list[Any] = []
    nodes: list[Any] = []

    def constant(value: Array) -> str:
        constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(constants)}"))
        return f"c{len(constants) - 1}"

    def numbers(scale: float) -> list[str]:
        return [constant(np.float32(scale)), constant(np.int8(zero))]

    def conv(value: str, inputs: int, outputs: int) -> str:
        weights = rng.integers(-128, 128, (outputs, inputs, 3, 3)).astype(np.int8)
        operands = [value, *numbers(0.5), constant(weights), constant(np.float32(0.03)), constant(np.int8(0))]
        bias = constant(rng.integers(-3000, 3000, outputs).astype(np.int32))
        result = f"v{len(nodes)}"
        nodes.append(helper.make_node("QLinearConv", [*operands, *numbers(9.0), bias], [result], pads=[1] * 4))
        return result

    first = conv("x", 3, 6)
    second = conv(first, 6, 6)
    sides = [first, *numbers(9.0), second, *numbers(9.0), *numbers(11.0)]
    nodes.append(helper.make_node("QLinearAdd", sides, ["sum"], domain="com.microsoft"))
    third = conv("sum", 6, 5)
    ends = [helper.make_tensor_value_info(third, TensorProto.INT8, None)]
    if pooled:
        nodes.append(helper.make_node("MaxPool", [first], ["z"], kernel_shape=[2, 2]))
        ends.append(helper.make_tensor_value_info("z", TensorProto.INT8, None))
    x = helper.make_tensor_value_info("x", TensorProto.INT8, (1, 3, 9, 8))
    graph = helper.make_graph(nodes, "g", [x], ends, constants)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def plan(model: bytes, engine: str, arithmetic: str = "onnx") -> Deployment:
    return Deployment(model, "siracusa", Options(settings={"engine": engine}, arithmetic=(("*", arithmetic),)))


def types(made: Deployment) -> list[DType]:
    return [made.graph.tensors[node.outputs[0]].dtype for node in made.graph.nodes]


def evaluated(made: Deployment, x: Array) -> list[Array]:
    graph, operators = made.graph, made.registry.operators
    values: dict[str, Array] = {graph.inputs[0]: x, **graph.constants}
    for node in graph.nodes:
        outputs = operators[node.op].reference(
            graph.site(node), [values[name] if name else None for name in node.inputs]
        )
        values.update(zip(node.outputs, outputs, strict=True))
    return [values[name] for name in graph.outputs]


@pytest.mark.parametrize("arithmetic", ["onnx", "pulp-shift", "tflm"])
def test_results_are_the_same(arithmetic: str) -> None:
    cores, engine = (plan(network(-128), name, arithmetic) for name in ("cores", "neureka"))
    assert set(types(cores)) == {DType.I8}
    assert types(engine) == [DType.U8, DType.U8, DType.I8, DType.U8, DType.I8]
    assert engine.graph.nodes[0].op == "QLookup"
    x = np.random.default_rng(1).integers(-128, 128, (1, 3, 9, 8)).astype(np.int8)
    for one, other in zip(evaluated(cores, x), evaluated(engine, x), strict=True):
        np.testing.assert_array_equal(one, other)
        assert len(np.unique(one)) > 20


@pytest.mark.parametrize("pooled", [False, True])
def test_what_is_read_beyond_the_image_is_zero(pooled: bool) -> None:
    """Of an input, and of a value that a pool reads, too, by a table."""
    graph = plan(network(-128, pooled=pooled), "neureka").graph
    assert [node.integer("pad_value") for node in graph.nodes if node.op == "QConv"] == [0, 0, 0]
    assert [node.op for node in graph.nodes].count("QLookup") == 1 + pooled


def test_values_of_other_zero_points_stay() -> None:
    assert set(types(plan(network(3), "neureka"))) == {DType.I8}
