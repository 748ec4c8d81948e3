"""All refusals of a model as one error, which names what else can be done."""

from __future__ import annotations

import pytest

from tilewright.errors.catalogue import catalogue
from tilewright.frontend.reading.refusals import RefusedAt, refusal_error


def refused(*signatures: str) -> str:
    items = [RefusedAt(signature=one, node="n", shapes="f32 1", reason="no package knows this") for one in signatures]
    return str(refusal_error(items, 9))


@pytest.mark.parametrize("signature", ["ConvInteger-10", "MatMulInteger-10", "com.microsoft:DynamicQuantizeLSTM-1"])
def test_what_is_quantised_while_it_runs_is_sent_to_samples(signature: str) -> None:
    text = refused("Det-11", signature)
    assert "  try:  tilewright quantize --help     quantises the float network with samples" in text
    assert "`quantize_dynamic`" in text


def test_other_networks_are_not() -> None:
    assert "quantize" not in refused("Det-11")


def test_pipelines_of_scikit_learn_are_sent_to_an_export_that_works() -> None:
    text = refused("ai.onnx.ml:Scaler-1", "ai.onnx.ml:ArrayFeatureExtractor-1", "ai.onnx.ml:ZipMap-1")
    assert "  try:  export again without ai.onnx.ml: the explanation of TW2101 says how" in text
    assert "black_op={" in catalogue()["TW2101"].text and "outputs=[" in catalogue()["TW2101"].text
    assert "scikit" not in refused("Det-11") and "ai.onnx.ml" not in refused("Det-11")


@pytest.mark.parametrize("name", ["TreeEnsembleClassifier", "SVMRegressor"])
def test_what_has_no_other_form_is_said(name: str) -> None:
    assert "(trees and SVMs have no other form)" in " ".join(refused(f"ai.onnx.ml:{name}-1").split())
