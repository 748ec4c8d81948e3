"""What onnxruntime's `quantize_dynamic` writes is one step for each tensor and one for each product, and computes bit
for bit what onnxruntime does with the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from conformance.batch import PASS, run_batch
from conformance.cases import Case
from tilewright.deployment import Deployment

node, F32 = helper.make_node, np.float32
RANDOM = np.random.default_rng(6)


def _attention() -> list[onnx.NodeProto]:
    """Queries, keys and values of one tensor, whose bytes they share; and products of two computed tensors."""
    return [
        *(node("MatMul", ["x", name], [f"{name}x"], name) for name in ("wq", "wk", "wv")),
        *(node("Add", [f"{name}x", "b"], [f"{name}b"], f"{name}_bias") for name in ("wq", "wk", "wv")),
        node("Transpose", ["wkb"], ["keys"], perm=[0, 2, 1]),
        node("MatMul", ["wqb", "keys"], ["scores"], "scores"),
        node("Softmax", ["scores"], ["rows"], axis=-1),
        node("MatMul", ["rows", "wvb"], ["y"], "mixed"),
    ]


def _image() -> list[onnx.NodeProto]:
    return [
        node("Conv", ["x", "w", "bias"], ["first"], "first", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["first"], ["kept"]),
        node("Conv", ["kept", "w2"], ["y"], "second", kernel_shape=[1, 1], strides=[2, 2]),
    ]


def _numbers(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(F32)


def _constants(**shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {name: _numbers(*shape) for name, shape in shapes.items()}


NETWORKS = {
    "attention": (_attention(), _numbers(1, 6, 16), _constants(wq=(16, 16), wk=(16, 16), wv=(16, 16), b=(16,))),
    "image": (_image(), _numbers(1, 4, 9, 9), _constants(w=(8, 4, 3, 3), bias=(8,), w2=(5, 8, 1, 1))),
}
KEPT = {
    "attention": ["DynamicQuantizeLinear"] * 5 + ["MatMulInteger"] * 5 + ["Softmax", "Transpose"],
    "image": ["Clip", "ConvInteger", "ConvInteger", "DynamicQuantizeLinear", "DynamicQuantizeLinear"],
}


def quantised(name: str, folder: Path) -> Case:
    nodes, x, constants = NETWORKS[name]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, key) for key, array in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(onnx.shape_inference.infer_shapes(made), folder / "float.onnx")
    weights = QuantType.QUInt8 if name == "image" else QuantType.QInt8
    both, kinds = {"MatMulConstBOnly": False}, ["MatMul", "Conv"]
    quantize_dynamic(folder / "float.onnx", folder / "bytes.onnx", kinds, weight_type=weights, extra_options=both)
    model = (folder / "bytes.onnx").read_bytes()
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    outputs = onnxruntime.InferenceSession(model, options).run(None, {"x": x})
    return Case(
        name=name, operator=name, tier=2, opset=17, expanded=False, baked=False, model=model, inputs={"x": x},
        outputs=tuple(np.asarray(array) for array in outputs), relative=0, absolute=1e-6 if name == "attention" else 0,
    )  # fmt: skip


@pytest.mark.parametrize("name", NETWORKS)
def test_two_steps(name: str, tmp_path: Path) -> None:
    case = quantised(name, tmp_path)
    graph = Deployment(case.model, "generic").rewritten.graph
    assert sorted(each.op for each in graph.nodes) == sorted(KEPT[name])
    assert all(each.inputs[4:] for each in graph.nodes if each.op.endswith("Integer"))


@pytest.mark.slow
def test_outputs_are_those_of_onnxruntime(tool: Callable[[str], str], tmp_path: Path) -> None:
    tool("cc")
    outcomes = run_batch([quantised(name, tmp_path) for name in NETWORKS], tmp_path)
    assert {name: (each.status, each.reason) for name, each in outcomes.items() if each.status != PASS} == {}
