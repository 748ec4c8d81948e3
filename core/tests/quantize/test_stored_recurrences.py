"""LSTM and GRU of a quantised network are written so that they compute in integers, near what the float one does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.deployment import Deployment
from tilewright.quantize.samples import read_samples
from tilewright.quantize.static import Recipe, inputs_of, prepare, quantise, session
from tilewright.quantize.stored_recurrences import Written, quantise_recurrent
from tilewright.testing.cluster import CLUSTER, registry_for

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, INPUTS, HIDDEN = 12, 6, 8


def network(kind: str, *, directions: int = 1, batch_first: bool = False, initial: bool = False, **more: Any) -> Any:
    """x [1, 12, 6] or the steps first -> MatMul -> the layer -> Transpose, Reshape -> MatMul -> y [1, 4]."""
    random, rows = np.random.default_rng(3), GATES[kind] * HIDDEN
    width = STEPS * directions * HIDDEN

    def weights(name: str, *shape: int, size: float = 0.5) -> TensorProto:
        return numpy_helper.from_array(random.normal(0, size, shape).astype(np.float32), name)

    held = [
        weights("a", INPUTS, INPUTS), weights("w", directions, rows, INPUTS), weights("r", directions, rows, HIDDEN),
        weights("b", directions, 2 * rows), weights("v", width, 4, size=0.2),
        numpy_helper.from_array(np.array([1, width], np.int64), "flat"),
        weights("h0", *((1, directions) if batch_first else (directions, 1)), HIDDEN),
    ]  # fmt: skip
    operands = ["m", "w", "r", "b", *(["", "h0"] if initial else [])]
    way = {"direction": "bidirectional"} if directions == 2 else {}
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["m"], name="before"),
        helper.make_node(
            kind, operands, ["s"], name="layer", hidden_size=HIDDEN, layout=int(batch_first), **way, **more
        ),
        helper.make_node("Reshape", ["s", "flat"], ["f"], name="flatten"),
        helper.make_node("MatMul", ["f", "v"], ["y"], name="behind"),
    ]
    shape = [1, STEPS, INPUTS] if batch_first else [STEPS, 1, INPUTS]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])], held,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def written(folder: Path, model: Any, to: Any = "int8", recipe: Recipe | None = None) -> tuple[Path, Path, Written]:
    """The float file, the quantised one, and what was done."""
    files = [folder / name for name in ("float.onnx", "prepared.onnx", "int8.onnx")]
    onnx.save(model, files[0])
    extents = tuple(dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim)
    np.savez(folder / "samples.npz", x=np.random.default_rng(1).normal(size=(24, *extents[1:])).astype(np.float32))
    if extents[0] != 1:
        np.savez(folder / "samples.npz", x=np.random.default_rng(1).normal(size=(24, *extents)).astype(np.float32))
    samples = read_samples(folder / "samples.npz", inputs_of(files[0])).inputs
    prepare(files[0], files[1])
    quantise(files[1], files[2], samples, recipe or Recipe())
    return files[0], files[2], quantise_recurrent(files[1], files[2], samples, to)


FORMS: dict[str, tuple[Any, Any]] = {
    "LSTM": (network("LSTM"), "int8"),
    "GRU": (network("GRU", linear_before_reset=1), "int8"),
    "LSTM of 16 bits": (network("LSTM"), "int16"),
    "GRU both ways": (network("GRU", directions=2), "int8"),
    "LSTM with a state": (network("LSTM", initial=True), "int8"),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_comes_out_is_integers_near_the_float_network(name: str, tmp_path: Path) -> None:
    before, after, told = written(tmp_path, *FORMS[name])
    assert (told.integers, told.left) == (("layer",), {})
    deployment = Deployment(after, CLUSTER.name, registry=registry_for(CLUSTER))
    steps = [node.op for node in deployment.graph.nodes]
    inner = steps[steps.index("QuantizeLinear") + 1 : -1]
    assert steps[-1] == "DequantizeLinear" and not {"DequantizeLinear", "QuantizeLinear"} & {*inner}
    assert f"Q{name[:4].strip()}" in inner and not any(op.endswith("Steps") for op in inner)
    x = np.random.default_rng(2).normal(size=deployment.graph.tensors["x"].shape).astype(np.float32)
    (wanted,) = session(before).run(None, {"x": x})
    found = run(deployment.graph, {"x": x}, deployment.registry.operators)["y"]
    assert np.abs(found - wanted).max() < 0.08 * np.abs(wanted).max()


def test_results_of_16_bits_are_nearer(tmp_path: Path) -> None:
    apart = []
    for to in ("int8", "int16"):
        folder = tmp_path / to
        folder.mkdir()
        _, after, _ = written(folder, network("GRU"), to, Recipe(activations="uint8"))
        deployment = Deployment(after, CLUSTER.name, registry=registry_for(CLUSTER))
        assert "QGRU" in {node.op for node in deployment.graph.nodes}
        x = np.random.default_rng(2).normal(size=deployment.graph.tensors["x"].shape).astype(np.float32)
        (wanted,) = session(after).run(None, {"x": x})
        found = run(deployment.graph, {"x": x}, deployment.registry.operators)["y"]
        apart.append(float(np.abs(found - wanted).mean()))
    assert apart[1] <= apart[0]


@pytest.mark.parametrize(
    ("kind", "changes", "said"),
    [
        ("RNN", {}, "an RNN has no integer form"),
        ("LSTM", {"clip": 3.0}, "clip and input_forget"),
        ("GRU", {"activations": ["Sigmoid", "Relu"]}, "not Sigmoid and Tanh"),
    ],
)
def test_what_has_no_integer_form_is_left_as_it_is(
    kind: str, changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    _, after, told = written(tmp_path, network(kind, **changes))
    assert told.integers == () and said in told.left["layer"]
    assert all(node.domain != "com.microsoft" for node in onnx.load(after).graph.node)
