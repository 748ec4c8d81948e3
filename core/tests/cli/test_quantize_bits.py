"""Bits alike or searched for: which network is found, what is said of it, and of what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.cli.quantize_bits import Search, chosen_json, chosen_lines, float_layers, searched, uniform_bits
from tilewright.cli.quantize_within import Place
from tilewright.errors import TilewrightError
from tilewright.quantize.bits import Bits
from tilewright.quantize.output_noise import reference
from tilewright.quantize.samples import Samples
from tilewright.quantize.search import Room, Taken
from tilewright.quantize.static import Recipe, prepare, quantise
from tilewright.quantize.template import Template, template
from tilewright.report.plain_text import plain

DIGITS = Path(__file__).parents[3] / "examples" / "digits"
RAM = {"r1": 300, "logits": 5}  # of what has 16 bits, in a plan that is made up
FLASH = {"conv2.weight": 500, "fc.weight": 300, "conv1.weight": 30}  # of what has 8


@pytest.fixture(scope="module", name="given")
def _given() -> Samples:
    with np.load(DIGITS / "digits_test.npz") as digits:
        images, labels = digits["images"][:40], digits["labels"][:40]
    return Samples(inputs=tuple({"image": image[None]} for image in images), labels=tuple(map(int, labels)))


@pytest.fixture(scope="module", name="digits")
def _digits(tmp_path_factory: pytest.TempPathFactory, given: Samples) -> Template:
    folder = tmp_path_factory.mktemp("digits")
    prepare(DIGITS / "digits_f32.onnx", folder / "float.onnx", 21)
    quantise(folder / "float.onnx", folder / "int8.onnx", given.inputs, Recipe(activations="mixed"))
    return template(folder / "float.onnx", folder / "int8.onnx")


@pytest.fixture(autouse=True)
def _planned(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(plans: object, bits: Bits) -> Taken:
        return Taken(
            ram=1000 + sum(size for name, size in RAM.items() if name in bits.wide),
            flash=2000 + sum(size for name, size in FLASH.items() if name not in bits.narrow),
            ms=1.0,
        )

    monkeypatch.setattr("tilewright.cli.quantize_within.Plans.taken", taken)


def search_of(digits: Template, given: Samples, folder: Path, recipe: Recipe, **room: Any) -> Search:
    drop = room.pop("drop", None)
    held = reference(DIGITS / "digits_f32.onnx", given)
    place = Place(target="none", keywords={}, room=Room(**room), drop=drop)
    return Search(network=digits, recipe=recipe, place=place, measured=held, judged=held, folder=folder)


MIXED = Recipe(activations="mixed", weights="mixed")


def test_alike_is_all_or_nothing(digits: Template) -> None:
    bits, notes = uniform_bits(digits, Recipe(activations="int16"))
    assert (bits.wide, bits.narrow, notes) == (frozenset({"image", "r1", "r2", "logits", "scores"}), frozenset(), ())
    bits, notes = uniform_bits(digits, Recipe(weights="4"))
    assert (bits.wide, bits.narrow) == (frozenset(), frozenset(FLASH))


def test_what_fits_is_found_and_nothing_beats_it_at_equal_bytes(
    digits: Template, given: Samples, tmp_path: Path
) -> None:
    chosen = searched(search_of(digits, given, tmp_path, MIXED, ram=1000, flash=2830))
    assert chosen.found.bits.narrow == frozenset()
    assert chosen.found.bits.wide == {"image", "r2", "scores"}  # all that need no more RAM
    eight = next(one for one in chosen.rivals if one.name == "all values 8, weights 8")
    assert chosen.found.noise < eight.noise
    assert (chosen.found.taken.ram, chosen.found.taken.flash) == (eight.taken.ram, eight.taken.flash)


def test_less_flash_costs_the_weights_that_matter_least(digits: Template, given: Samples, tmp_path: Path) -> None:
    chosen = searched(search_of(digits, given, tmp_path, MIXED, ram=9999, flash=2350))
    assert chosen.found.bits.narrow == {"conv2.weight"}
    lines = plain(chosen_lines(chosen, digits))
    assert "all values 16, weights 4" in lines and "fc.weight" in lines
    told = chosen_json(chosen, digits)
    assert told["bits"]["conv2.weight"] == 4 and told["bits"]["fc.weight"] == 8 and told["bits"]["r1"] == 16
    assert [one["name"] for one in told["tried"]][-1] == "chosen"


def test_weights_stay_at_8_bits_where_only_values_are_mixed(digits: Template, given: Samples, tmp_path: Path) -> None:
    chosen = searched(search_of(digits, given, tmp_path, Recipe(activations="mixed"), ram=1005))
    assert chosen.found.bits == Bits(wide=frozenset({"image", "r2", "scores", "logits"}))
    assert {one.name for one in chosen.rivals} == {"all values 8, weights 8", "all values 16, weights 8"}


def test_what_does_not_fit_names_the_nearest_and_what_is_enough(
    digits: Template, given: Samples, tmp_path: Path
) -> None:
    with pytest.raises(TilewrightError) as caught:
        searched(search_of(digits, given, tmp_path, MIXED, ram=900, flash=5000, ms=0.5))
    assert (caught.value.code, caught.value.exit_code) == ("TW1420", 5)
    said = str(caught.value)
    assert "ram: 1,000 B, of 900 B" in said and "ms: 1 ms, of 0.5 ms" in said
    assert "--within ram=1000,flash=5000,ms=1" in said


def test_the_smallest_that_loses_no_more_is_found(digits: Template, given: Samples, tmp_path: Path) -> None:
    chosen = searched(search_of(digits, Samples(inputs=given.inputs), tmp_path, MIXED, drop=0.02))
    held = reference(DIGITS / "digits_f32.onnx", Samples(inputs=given.inputs))
    all_small, all_large = chosen.rivals[0], chosen.rivals[-1]
    assert (
        all_small.noise**0.5
        > 0.02
        >= chosen.found.noise**0.5
        == pytest.approx(held.drop(_file(chosen, digits, tmp_path)))
    )
    assert chosen.found.taken.flash < all_large.taken.flash


def _file(chosen: Any, digits: Template, folder: Path) -> Path:
    file = folder / "found.onnx"
    file.write_bytes(digits.written(chosen.found.bits))
    return file


def test_the_best_that_loses_too_much_is_refused_with_how_much(
    digits: Template, given: Samples, tmp_path: Path
) -> None:
    unlabelled = Samples(inputs=given.inputs)
    with pytest.raises(TilewrightError) as caught:
        searched(search_of(digits, unlabelled, tmp_path, Recipe(weights="4"), drop=0.001, flash=9999))
    assert (caught.value.code, caught.value.exit_code) == ("TW1421", 5)
    assert "more than 0.1 %" in str(caught.value) and "give --within more" in str(caught.value)


def test_layers_in_float_are_named_by_their_nodes(tmp_path: Path) -> None:
    """x -> Relu -> Sin -> y: only Sin has no integer form, where nothing is quantised behind it."""
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
        helper.make_node("Sin", ["d"], ["y"], name="sine"),
    ]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in "xy"]
    held = [
        numpy_helper.from_array(np.asarray(array), name) for name, array in (("s", np.float32(1)), ("z", np.int8(0)))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert float_layers(model.SerializeToString()) == {"sine"}
