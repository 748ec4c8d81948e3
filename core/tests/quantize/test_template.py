"""Values of 16 bits and weights of 4: what the file has, what tilewright makes of it, and how near it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.deployment import Deployment
from tilewright.quantize.bits import Bits
from tilewright.quantize.output_noise import reference
from tilewright.quantize.samples import Samples, read_samples
from tilewright.quantize.static import Recipe, inputs_of, prepare, quantise
from tilewright.quantize.template import Template, nibbles, template
from tilewright.testing.cluster import CLUSTER, registry_for


def made(network: Path, samples: Path) -> tuple[Template, Samples]:
    prepared, quantised = network.with_name("prepared.onnx"), network.with_name("int8.onnx")
    given = read_samples(samples, inputs_of(network))
    prepare(network, prepared, 21)
    quantise(prepared, quantised, given.inputs, Recipe(activations="mixed"))
    return template(prepared, quantised), given


def types_of(file: Path) -> dict[str, list[str]]:
    """Of every quantised layer the type of what it reads and writes."""
    graph = Deployment(file, CLUSTER.name, registry=registry_for(CLUSTER)).rewritten.graph
    return {
        node.op: [graph.tensors[name].dtype.value for name in (node.inputs[0], node.outputs[0])] for node in graph.nodes
    }


def test_the_choices_are_values_by_scale_and_weights_of_products(network: Path, samples: Path) -> None:
    found, _ = made(network, samples)
    assert [(choice.kind, choice.name, choice.layer) for choice in found.choices] == [
        ("value", "x", ""), ("weights", "w", "conv"), ("value", "r", "conv"),
        ("weights", "v", "dense"), ("value", "y", "dense"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wide", "types"),
    [
        ("", {"QConv": ["i8", "i8"], "QGemm": ["i8", "i8"]}),
        ("xry", {"QConv": ["i16", "i16"], "QGemm": ["i16", "i16"]}),
        ("r", {"QConv": ["i8", "i16"], "QGemm": ["i16", "i8"]}),
        ("xy", {"QConv": ["i16", "i8"], "QGemm": ["i8", "i16"]}),
    ],
)
def test_each_value_has_its_bits_and_every_layer_is_of_integers(
    network: Path, samples: Path, wide: str, types: dict[str, list[str]]
) -> None:
    found, _ = made(network, samples)
    file = network.with_name("wide.onnx")
    file.write_bytes(found.written(Bits(wide=frozenset(wide))))
    onnx.checker.check_model(onnx.load(file), full_check=True)
    layers = types_of(file)
    assert {op: layers[op] for op in types} == types
    assert layers.keys().isdisjoint({"Conv", "Gemm", "Relu", "Clip"})


def test_more_bits_are_less_noise_each_on_its_own(network: Path, samples: Path) -> None:
    found, given = made(network, samples)
    held = reference(network, given)

    def noise(bits: Bits) -> float:
        network.with_name("tried.onnx").write_bytes(found.written(bits))
        return held.noise(network.with_name("tried.onnx"))

    words = frozenset("xry")
    best = noise(Bits(wide=words))
    assert best < noise(Bits(wide=frozenset("xr"))) < noise(Bits()) < noise(Bits(narrow=frozenset("w"))) < 0.02
    assert noise(Bits(narrow=frozenset("w"))) < noise(Bits(narrow=frozenset("wv"))) < 0.05


def test_weights_of_4_bits_are_stored_as_such_with_a_scale_for_each_channel(network: Path, samples: Path) -> None:
    found, _ = made(network, samples)
    model = onnx.load_from_string(found.written(Bits(narrow=frozenset("wv"))))
    stored = {one.name: one for one in model.graph.initializer}
    for name, channels in (("w", 4), ("v", 5)):
        assert stored[f"{name}_quantized"].data_type == TensorProto.INT4
        assert list(stored[f"{name}_scale"].dims) == [channels]
    assert stored["b_quantized"].data_type == TensorProto.INT32


@pytest.mark.parametrize(("wide", "narrow"), [("x", ""), ("", "w"), ("xr", "w")])
def test_a_bias_counts_in_the_steps_of_its_accumulator(network: Path, samples: Path, wide: str, narrow: str) -> None:
    found, _ = made(network, samples)
    model = onnx.load_from_string(found.written(Bits(wide=frozenset(wide), narrow=frozenset(narrow))))
    held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    assert np.array_equal(held["b_quantized_scale"], held["x_scale"] * held["w_scale"])
    apart = held["b_quantized"] * held["b_quantized_scale"] - found.floats["b"]
    assert np.all(np.abs(apart) <= 0.51 * held["b_quantized_scale"])


def test_a_bias_that_does_not_fit_is_the_float_one(network: Path, samples: Path) -> None:
    model = onnx.load(network)
    bias = next(one for one in model.graph.initializer if one.name == "b")
    bias.CopyFrom(numpy_helper.from_array(np.full(4, 3e5, np.float32), "b"))
    onnx.save(model, network)
    found, _ = made(network, samples)
    wide = onnx.load_from_string(found.written(Bits(wide=frozenset("x"))))
    held = {one.name: numpy_helper.to_array(one) for one in wide.graph.initializer}
    assert np.array_equal(held["b"], found.floats["b"]) and "b_quantized" not in held


def test_without_other_bits_the_file_is_the_int8_one(network: Path, samples: Path) -> None:
    found, _ = made(network, samples)
    assert onnx.load_from_string(found.written(Bits())) == onnx.load(network.with_name("int8.onnx"))


def test_the_scale_of_4_bits_has_the_smallest_error_of_those_tried() -> None:
    weights = np.random.default_rng(0).laplace(size=(6, 200)).astype(np.float32)
    none = np.full(6, 1e-6, np.float32)
    scale, stored = nibbles(weights, 0, none)
    assert (scale.shape, stored.min() >= -8, stored.max() <= 7) == ((6,), True, True)
    plain = np.abs(weights).max(axis=1) / 7
    error = [
        np.sum((np.rint(weights / one[:, None]).clip(-8, 7) * one[:, None] - weights) ** 2) for one in (scale, plain)
    ]
    assert error[0] < 0.9 * error[1]
    exact = np.arange(-7, 8, dtype=np.float32).reshape(1, 15) * np.float32(0.25)
    scale, stored = nibbles(exact, None, none[0])
    assert (scale.shape, float(scale)) == ((), 0.25)
    assert np.array_equal(stored * scale, exact)
    weights[3] = 0
    scale, stored = nibbles(weights, 0, np.full(6, 0.01, np.float32))
    assert (scale[3], stored[3].any()) == (np.float32(0.01), np.False_), "the scale that the int8 file has"


def test_a_clip_that_int8_did_by_saturating_is_back_and_constants_of_sums_are_wide(tmp_path: Path) -> None:
    """x -> Conv -> Clip 0..6 -> + constant -> y: the largest value of 16 bits is above 6, the smallest below 0."""
    random = np.random.default_rng(3)
    constants = {
        "w": random.normal(size=(4, 2, 3, 3)).astype(np.float32),
        "low": np.float32(0), "high": np.float32(1.5),
        "shift": random.normal(size=(1, 4, 1, 1)).astype(np.float32),
    }  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("Clip", ["c", "low", "high"], ["r"], name="clip"),
        helper.make_node("Add", ["r", "shift"], ["y"], name="add"),
    ]
    ends = [helper.make_tensor_value_info(*end) for end in (("x", 1, [1, 2, 6, 6]), ("y", 1, [1, 4, 6, 6]))]
    held = [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "clipped", ends[:1], ends[1:], held)
    file = tmp_path / "clipped.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    np.savez(tmp_path / "samples.npz", x=random.normal(size=(12, 2, 6, 6)).astype(np.float32))
    found, given = made(file, tmp_path / "samples.npz")
    wide = frozenset(choice.name for choice in found.choices if choice.kind == "value")
    written = tmp_path / "wide.onnx"
    written.write_bytes(found.written(Bits(wide=wide)))
    layers = types_of(written)
    assert {op: layers[op] for op in ("QConv", "QAdd")} == {"QConv": ["i16", "i16"], "QAdd": ["i16", "i16"]}
    assert layers.keys().isdisjoint({"Conv", "Clip", "Add"})
    assert reference(file, given).noise(written) < 1e-4


def test_nodes_without_inputs_are_no_stored_constants(tmp_path: Path) -> None:
    """The axes of a mean that was brought to a newer operator set are a Constant node."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("ReduceMean", ["c"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("MatMul", ["m", "v"], ["y"], name="dense"),
    ]
    ends = [helper.make_tensor_value_info(*end) for end in (("x", 1, [1, 2, 6, 6]), ("y", 1, [1, 2]))]
    weights = {"w": np.ones((2, 2, 3, 3), np.float32), "v": np.ones((2, 2), np.float32)}
    held = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "mean", ends[:1], ends[1:], held)
    file = tmp_path / "mean.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)
    np.savez(tmp_path / "samples.npz", x=np.random.default_rng(3).normal(size=(4, 2, 6, 6)).astype(np.float32))
    found, _ = made(file, tmp_path / "samples.npz")
    wide = frozenset(choice.name for choice in found.choices if choice.kind == "value")
    written = onnx.load_from_string(found.written(Bits(wide=wide))).graph.node
    assert any(not node.input for node in written) and any(node.op_type == "ReduceMean" for node in written)
