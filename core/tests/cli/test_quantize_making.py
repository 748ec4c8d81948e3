"""The way to a quantised network: 8 bits as onnxruntime writes them, others of a template, or those that are best."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tilewright.cli.quantize_making import PREPARED, make
from tilewright.cli.quantize_within import Place
from tilewright.errors import TilewrightError
from tilewright.quantize.bits import Bits
from tilewright.quantize.samples import Samples
from tilewright.quantize.search import Room, Taken
from tilewright.quantize.static import Recipe

DIGITS = Path(__file__).parents[3] / "examples" / "digits"


@pytest.fixture(name="given")
def _given() -> Samples:
    with np.load(DIGITS / "digits_test.npz") as digits:
        return Samples(inputs=tuple({"image": image[None]} for image in digits["images"][:20]))


@pytest.fixture(name="whole")
def _whole(tmp_path: Path) -> Path:
    return Path(shutil.copy(DIGITS / "digits_f32.onnx", tmp_path / "model.onnx"))


def types(file: Path) -> set[int]:
    """Of every constant."""
    return {constant.data_type for constant in onnx.load(file).graph.initializer}


@pytest.mark.parametrize(
    ("recipe", "has", "lacks"),
    [
        (Recipe(), TensorProto.INT8, TensorProto.INT16),
        (Recipe(activations="int16"), TensorProto.INT16, TensorProto.INT4),
        (Recipe(activations="uint8", weights="4"), TensorProto.INT4, TensorProto.INT16),
    ],
)
def test_a_recipe_is_followed(whole: Path, given: Samples, recipe: Recipe, has: int, lacks: int) -> None:
    made = make(whole, recipe, None, given, given)
    assert has in types(made.file) and lacks not in types(made.file)
    assert (made.prepared, made.notes, made.lines) == (whole.with_name(PREPARED), (), ())


def test_with_a_place_bits_are_searched_for_and_told(
    whole: Path, given: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken(plans: object, bits: Bits) -> Taken:
        return Taken(ram=100 * (1 + len(bits.wide)), flash=900 - 100 * len(bits.narrow))

    monkeypatch.setattr("tilewright.cli.quantize_within.Plans.taken", taken)
    place = Place(target="none", keywords={}, room=Room(ram=200, flash=800))
    made = make(whole, Recipe(activations="mixed", weights="mixed"), place, given, given)
    bits = list(made.json["bits"].values())
    assert (bits.count(4), bits.count(16)) == (1, 1)
    assert {TensorProto.INT4, TensorProto.INT16} <= types(made.file)
    assert len(made.lines) == 2


def test_8_bits_everywhere_must_fit_too(whole: Path, given: Samples, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.cli.quantize_within.Plans.taken", lambda plans, bits: Taken(ram=100))
    place = Place(target="none", keywords={}, room=Room(ram=100))
    made = make(whole, Recipe(), place, given, given)
    assert set(made.json["bits"].values()) == {8} and TensorProto.INT16 not in types(made.file)
    with pytest.raises(TilewrightError) as caught:
        make(whole, Recipe(), replace(place, room=Room(ram=99)), given, given)
    assert caught.value.code == "TW1420"
