"""onnxruntime is asked for what tilewright reads: QDQ, int8, a scale for each channel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.quantize.samples import NetworkInput, read_samples
from tilewright.quantize.static import Reader, Recipe, inputs_of, numpy_name, prepare, quantise, session
from tilewright.testing.cluster import CLUSTER, registry_for


def made(network: Path, samples: Path, recipe: Recipe) -> Path:
    prepared, quantised = network.with_name("prepared.onnx"), network.with_name("int8.onnx")
    prepare(network, prepared)
    quantise(prepared, quantised, read_samples(samples, inputs_of(network)).inputs, recipe)
    return quantised


def test_inputs_are_those_of_the_file(network: Path) -> None:
    assert inputs_of(network) == (NetworkInput(name="x", shape=(1, 3, 6, 6), dtype="float32"),)
    assert [numpy_name(f"tensor({one})") for one in ("float", "double", "int64")] == ["float32", "float64", "int64"]


@pytest.mark.parametrize(("dim", "called"), [("batch", "batch"), ("?", "?"), (None, "x[0]"), ("", "x[0]")])
def test_a_batch_is_open_whatever_it_is_called(network: Path, samples: Path, dim: str | None, called: str) -> None:
    model = onnx.load(network)
    for end in (*model.graph.input, *model.graph.output):
        extent = end.type.tensor_type.shape.dim[0]
        extent.Clear()
        if dim is not None:
            extent.dim_param = dim
    onnx.save(model, network)
    assert inputs_of(network) == (NetworkInput(name="x", shape=(called, 3, 6, 6), dtype="float32"),)
    deployment = Deployment(made(network, samples, Recipe()), CLUSTER.name, registry=registry_for(CLUSTER))
    assert deployment.graph.tensors["x"].shape == (1, 3, 6, 6)
    assert [one.code for one in deployment.imported.diagnostics if one.code == "TW1229"] == ["TW1229"]


@pytest.mark.parametrize("activations", ["int8", "uint8"])
def test_what_comes_out_runs_on_integers(network: Path, samples: Path, activations: Any) -> None:
    quantised = made(network, samples, Recipe(activations=activations))
    graph = Deployment(quantised, CLUSTER.name, registry=registry_for(CLUSTER)).graph
    by_op = {node.op: node for node in graph.nodes}
    assert {"QuantizeLinear", "QConv", "QGemm", "DequantizeLinear"} <= by_op.keys()
    assert by_op.keys().isdisjoint({"Conv", "Relu", "Gemm"})
    assert graph.tensors[by_op["QConv"].outputs[0]].dtype.value == {"int8": "i8", "uint8": "u8"}[activations]


@pytest.mark.parametrize(("per_channel", "scales"), [(True, {4, 5}), (False, {1})])
def test_weights_have_a_scale_for_each_channel_or_one(
    network: Path, samples: Path, per_channel: bool, scales: set[int]
) -> None:
    quantised = onnx.load(made(network, samples, Recipe(per_channel=per_channel)))
    sizes = {max(1, sum(one.dims)) for one in quantised.graph.initializer if one.name in {"w_scale", "v_scale"}}
    assert sizes == scales


@pytest.mark.parametrize("method", ["entropy", "percentile"])
def test_other_ways_to_find_ranges(network: Path, samples: Path, method: Any) -> None:
    assert made(network, samples, Recipe(method=method)).stat().st_size > 0


def test_a_network_comes_to_the_operator_set_of_its_types_with_names_for_nodes(network: Path, tmp_path: Path) -> None:
    sets = {Recipe(): 17, Recipe(activations="int16"): 21, Recipe(weights="4"): 21, Recipe(activations="mixed"): 21}
    model = onnx.load(network)
    model.graph.node[0].name = ""
    onnx.save(model, network)
    for recipe, opset in sets.items():
        prepare(network, tmp_path / "prepared.onnx", recipe.opset)
        prepared = onnx.load(tmp_path / "prepared.onnx")
        assert [item.version for item in prepared.opset_import if item.domain == ""] == [opset]
        assert all(node.name for node in prepared.graph.node)


def test_a_network_that_cannot_come_to_it_is_refused_with_what_to_export(network: Path, monkeypatch: Any) -> None:
    def refuse(model: object, opset: int) -> None:
        raise RuntimeError("no adapter for Upsample")

    monkeypatch.setattr("onnx.version_converter.convert_version", refuse)
    with pytest.raises(TilewrightError) as caught:
        prepare(network, network.with_name("prepared.onnx"), 21)
    assert (caught.value.code, caught.value.exit_code) == ("TW1417", 3)
    assert "no adapter for Upsample" in str(caught.value) and "opset_version=21" in str(caught.value)


def test_the_reader_gives_each_sample_once_and_again_when_rewound() -> None:
    reader = Reader([{"x": 1}, {"x": 2}])
    assert [reader.get_next() for _ in range(3)] == [{"x": 1}, {"x": 2}, None]
    reader.rewind()
    assert reader.get_next() == {"x": 1}
    assert len(list(reader)) == 2


def test_a_file_that_is_no_network_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.onnx").write_bytes(b"no network")
    for file in (tmp_path / "no.onnx", tmp_path / "none.onnx"):
        with pytest.raises(TilewrightError) as caught:
            session(file)
        assert (caught.value.code, caught.value.exit_code) == ("TW1230", 3)


def test_without_onnxruntime_the_message_says_what_to_install(network: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(TilewrightError) as caught:
        session(network)
    assert (caught.value.code, caught.value.exit_code) == ("TW7030", 7)
    assert "tilewright[quantize]" in str(caught.value)


@pytest.mark.parametrize("activations", [np.uint8, np.int8])
def test_sums_of_the_largest_products_do_not_saturate(activations: type[np.uint8 | np.int8], tmp_path: Path) -> None:
    """As they would where a processor has no instructions that add products of bytes up in 32 bits."""
    largest = int(np.iinfo(activations).max)
    constants = {
        "w": np.full((64, 8), 127, np.int8),
        "bias": np.zeros(8, np.float32),
        "one": np.float32(1),
        "zero_x": activations(0),
        "zero_w": np.int8(0),
        "step": np.float32(1 << 14),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "one", "zero_x"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "one", "zero_x"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "one", "zero_w"], ["wd"]),
        helper.make_node("Gemm", ["xd", "wd", "bias"], ["m"]),
        helper.make_node("QuantizeLinear", ["m", "step", "zero_x"], ["mq"]),
        helper.make_node("DequantizeLinear", ["mq", "step", "zero_x"], ["y"]),
    ]
    sizes = (("x", 64), ("y", 8))
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, size]) for name, size in sizes]
    held = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "product", ends[:1], ends[1:], held)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    (y,) = session(tmp_path / "m.onnx").run(None, {"x": np.full((1, 64), largest, np.float32)})
    assert (y == min(np.round(64 * largest * 127 / (1 << 14)), largest) * (1 << 14)).all()
