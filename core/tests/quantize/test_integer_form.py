"""Values beside layers that have no integer form with 16 bits stay at 8, and only those."""

from __future__ import annotations

from pathlib import Path

import onnx

from tilewright.quantize.bits import Bits
from tilewright.quantize.integer_form import all_bits, border, in_integers, values_beside
from tilewright.quantize.samples import read_samples
from tilewright.quantize.static import Recipe, inputs_of, prepare, quantise
from tilewright.quantize.template import Template, template


def made(network: Path, samples: Path) -> Template:
    prepared, quantised = network.with_name("prepared.onnx"), network.with_name("int8.onnx")
    prepare(network, prepared, 21)
    quantise(prepared, quantised, read_samples(samples, inputs_of(network)).inputs, Recipe(activations="int16"))
    return template(prepared, quantised)


def wide_around(model: bytes, name: str) -> frozenset[str]:
    """A compiler that computes this node in float where what it reads, or writes, has 16 bits."""
    graph = onnx.load_from_string(model).graph
    words = {one.name for one in graph.initializer if one.data_type == onnx.TensorProto.INT16}
    scaled = {
        value: node.input[2]
        for node in graph.node
        if node.op_type in ("QuantizeLinear", "DequantizeLinear") and len(node.input) > 2
        for value in (node.input[0], node.output[0])
    }
    found = next(node for node in graph.node if node.name == name)
    touched = [scaled.get(value) for value in (*found.input, *found.output)]
    return frozenset([name]) if words.intersection(filter(None, touched)) else frozenset()


def test_all_or_none_of_a_kind(network: Path, samples: Path) -> None:
    source = made(network, samples)
    assert all_bits(source, wide=True, narrow=False) == Bits(wide=frozenset("xry"))
    assert all_bits(source, wide=False, narrow=True) == Bits(narrow=frozenset("wv"))


def test_values_beside_a_layer_are_what_it_reads_and_writes(network: Path, samples: Path) -> None:
    source = made(network, samples)
    assert values_beside(source, frozenset(["dense"])) == frozenset("rvy")
    assert values_beside(source, frozenset(["nothing"])) == frozenset()


def test_the_border_is_what_inputs_and_outputs_are_quantised_to(network: Path, samples: Path) -> None:
    source = made(network, samples)
    assert border(source) == frozenset("xy")
    graph = source.model.graph  # a Transpose before the first QuantizeLinear
    first = next(node for node in graph.node if node.op_type == "QuantizeLinear")
    first.input[0] = "turned"
    graph.node.insert(0, onnx.helper.make_node("Transpose", ["x"], ["turned"], name="turn", perm=[0, 1, 3, 2]))
    assert border(source) == frozenset("xy")


def test_a_layer_without_a_wide_form_keeps_8_bits_around_it_and_nowhere_else(network: Path, samples: Path) -> None:
    source = made(network, samples)
    asked = all_bits(source, wide=True, narrow=True)
    kept = in_integers(source, asked, lambda model: wide_around(model, "dense"))
    assert kept == Bits(wide=frozenset("x"), narrow=frozenset("wv"))
    assert in_integers(source, asked, lambda model: frozenset()) == asked


def test_a_layer_that_is_float_with_8_bits_too_changes_nothing(network: Path, samples: Path) -> None:
    source = made(network, samples)
    asked = all_bits(source, wide=True, narrow=False)
    assert in_integers(source, asked, lambda model: frozenset(["dense"])) == asked
