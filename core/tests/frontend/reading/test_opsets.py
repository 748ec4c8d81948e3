"""Which operator set is meant: where a file says nothing, or two things."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper


@pytest.fixture(name="relu")
def _relu(model) -> onnx.ModelProto:
    return model([helper.make_node("Relu", ["x"], ["y"])])


@pytest.mark.parametrize("opset", [0, 9999, -3])
def test_unknown_opsets(refuses, relu, opset):
    relu.opset_import[0].version = opset
    assert f"opset {opset}" in refuses(relu, "TW1204")


def test_a_new_file_without_opset(refuses, relu):
    del relu.opset_import[:]
    assert "opset_import" in refuses(relu, "TW1204")


def test_a_file_from_before_there_were_operator_sets(loads, relu):
    del relu.opset_import[:]
    relu.ir_version = 2
    assert loads(relu).opset == 1


def test_two_versions_that_differ_for_a_node(refuses, relu):
    relu.opset_import.add(domain="ai.onnx", version=13)  # Relu-14 takes integers, too
    assert "two versions" in refuses(relu, "TW1204")


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_two_versions_that_are_one_for_every_node(loads, relu, domain):
    relu.opset_import.add(domain=domain, version=15)
    assert loads(relu).opset == 17


def test_two_versions_of_a_set_that_nobody_knows(refuses, model):
    made = model([helper.make_node("Own", ["x"], ["y"], domain="org.acme")], domains={"org.acme": 1})
    made.opset_import.add(domain="org.acme", version=2)
    assert "two versions" in refuses(made, "TW1204")


def test_a_form_that_is_newer_than_the_package(loads, relu):
    relu.ir_version = 200
    (warning,) = loads(relu).diagnostics
    assert (warning.code, warning.severity) == ("TW1224", "warning")
    assert "200" in warning.message
