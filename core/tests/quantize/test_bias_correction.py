"""Means of what layers read, and the shift of results that errors of weights make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tilewright.quantize.bias_correction import input_means, shift_of
from tilewright.quantize.bits import Bits
from tilewright.quantize.output_noise import outputs_of, reference
from tilewright.quantize.samples import read_samples
from tilewright.quantize.static import Recipe, inputs_of, prepare, quantise
from tilewright.quantize.template import template


def test_means_are_those_of_each_channel_over_all_samples(network: Path, samples: Path) -> None:
    given = read_samples(samples, inputs_of(network))
    prepare(network, network.with_name("float.onnx"), 21)
    model = onnx.load(network.with_name("float.onnx"))
    dense = next(node for node in model.graph.node if node.op_type == "Gemm")
    dense.input.append("bias")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(5, np.float32), "bias"))
    onnx.save(model, network.with_name("float.onnx"))
    found = input_means(network.with_name("float.onnx"), given.inputs)
    assert found.keys() == {"conv", "dense"}
    stacked = np.concatenate([sample["x"] for sample in given.inputs])
    assert found["conv"] == pytest.approx(stacked.mean(axis=(0, 2, 3)), abs=1e-6)
    assert found["dense"].shape == (144,) and found["dense"].min() >= 0


@pytest.mark.parametrize("transposed", [0, 1])
def test_the_shift_of_a_gemm_is_that_of_its_mean_input(transposed: int) -> None:
    random = np.random.default_rng(0)
    error, means = random.normal(size=(5, 7)), random.normal(size=7)
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=transposed)
    assert shift_of(node, error if transposed else error.T, means) == pytest.approx(error @ means)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_the_shift_of_a_convolution_is_what_a_constant_image_gives(groups: int) -> None:
    random = np.random.default_rng(groups)
    error, means = random.normal(size=(8, 4 // groups, 3, 2)).astype(np.float32), random.normal(size=4)
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=groups)
    ends = [helper.make_tensor_value_info(name, 1, None) for name in "xwy"]
    graph = helper.make_graph([node], "g", ends[:2], ends[2:])
    run = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    image = np.broadcast_to(means.astype(np.float32)[:, None, None], (4, 3, 2))[None]
    (expected,) = run.run(None, {"x": image, "w": error})
    assert shift_of(node, error.astype(np.float64), means) == pytest.approx(expected.reshape(-1), abs=1e-5)


def test_results_of_4_bits_are_right_on_the_mean_and_nearer_for_it(network: Path, samples: Path) -> None:
    """Samples whose mean is not 0, so that errors of weights shift what is computed."""
    given = read_samples(samples, inputs_of(network))
    held = [{"x": sample["x"] + np.float32(1.5)} for sample in given.inputs]
    prepared, quantised = network.with_name("float.onnx"), network.with_name("int8.onnx")
    prepare(network, prepared, 21)
    quantise(prepared, quantised, held, Recipe(weights="4"))
    noises = []
    for known in ((), held):
        file = network.with_name("narrow.onnx")
        file.write_bytes(template(prepared, quantised, known).written(Bits(narrow=frozenset("w"))))
        moved = type(given)(inputs=tuple(held))
        noises.append(reference(network, moved).noise(file))
        assert len(outputs_of(file, held)[1]) == 20
    assert noises[1] < 0.8 * noises[0]
