"""Symbols that weights give a number: filled in, not asked for, and overruled by nobody but the user."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from tilewright.frontend.nodes.graph_inputs import dims_of_weights
from tilewright.frontend.reading.reader import read_model
from tilewright.ir.graphs.model_formats import Limits

node = helper.make_node


def model(*nodes: NodeProto, shape: tuple[int | str | None, ...], weights: tuple[int, ...], **more: object) -> bytes:
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.zeros(weights, np.float32), "w")],
    )
    made: ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return bytes(made.SerializeToString())


@pytest.mark.parametrize(
    ("nodes", "shape", "weights", "found"),
    [
        ([node("Gemm", ["x", "w"], ["y"])], ("N", "F"), (24, 3), {"F": 24}),
        ([node("Gemm", ["x", "w"], ["y"], transB=1)], ("N", "F"), (24, 3), {"F": 3}),
        ([node("Gemm", ["x", "w"], ["y"], transA=1)], ("N", "F"), (24, 3), {"N": 24}),
        ([node("MatMul", ["x", "w"], ["y"])], ("N", "T", "F"), (24, 3), {"F": 24}),
        ([node("MatMul", ["w", "x"], ["y"])], ("N", "F"), (24, 3), {}),
        ([node("Conv", ["x", "w"], ["y"])], ("N", "C", "H", "W"), (8, 3, 5, 5), {"C": 3}),
        ([node("Conv", ["x", "w"], ["y"], group=4)], ("N", "C", "H", "W"), (8, 1, 5, 5), {"C": 4}),
        ([node("BatchNormalization", ["x", "w", "w", "w", "w"], ["y"])], ("N", "C", "H"), (6,), {"C": 6}),
        ([node("Relu", ["x"], ["a"]), node("Gemm", ["a", "w"], ["y"])], ("N", None), (24, 3), {"x[1]": 24}),
        (
            [node("Transpose", ["x"], ["a"], perm=[0, 3, 1, 2]), node("Conv", ["a", "w"], ["y"])],
            ("N", "H", "W", "C"),
            (8, 3, 5, 5),
            {"C": 3},
        ),
        ([node("Reshape", ["x", "s"], ["a"]), node("Gemm", ["a", "w"], ["y"])], ("N", "F"), (24, 3), {}),
        ([node("Add", ["x", "w"], ["y"])], ("N", "F"), (24,), {}),
        ([node("Relu", [], []), node("Gemm", ["x"], ["y"])], ("N", "F"), (24, 3), {}),
    ],
)
def test_what_follows(
    nodes: list[NodeProto], shape: tuple[int | str | None, ...], weights: tuple[int, ...], found: dict[str, int]
) -> None:
    assert dims_of_weights(read_model(model(*nodes, shape=shape, weights=weights), Limits()).graph) == found


def test_only_what_is_free_is_asked_for(loads, refuses) -> None:
    dense = model(node("MatMul", ["x", "w"], ["y"]), shape=(1, "how many", "F"), weights=(24, 3))
    text = refuses(dense, "TW1205")
    assert text.rstrip().endswith("try:  --dim 'how many=1'")
    dense = model(node("Gemm", ["x", "w"], ["y"]), shape=("batch size", "F"), weights=(24, 3))
    assert loads(dense, dims={"batch size": 2}).graph.tensors["x"].shape == (2, 24)
    assert "12 columns" in refuses(dense, "TW1310", dims={"batch size": 2, "F": 12})
