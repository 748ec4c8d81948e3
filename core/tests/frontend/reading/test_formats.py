"""Who reads a model: by its bytes before its name; and what an importer may hand on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit, TilewrightError, model_error
from tilewright.frontend.load import load
from tilewright.frontend.reading.external import embedded
from tilewright.frontend.reading.formats import ONNX, importer_of, is_onnx
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.graph import Quantization
from tilewright.ir.graphs.model_formats import ImportedModel, Importer, KeptState, Limits, Reading
from tilewright.operators.families import FAMILIES


def _relu(name: str = "r") -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [1, 3]) for each in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name=name)], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def _acme(name: str = "acme", start: bytes = b"ACME", **changes: Any) -> Importer:
    importer = Importer(
        name=name,
        summary=f"models of {name}",
        suffixes=(".acme",),
        recognises=lambda data: data.startswith(start),
        load=lambda data, reading: ImportedModel(model=_relu()),
    )
    return replace(importer, **changes)


@pytest.fixture
def operators() -> dict[str, Any]:
    from importlib import import_module

    return {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def test_bytes_decide_before_the_name() -> None:
    acme = _acme()
    assert importer_of(b"ACME...", "net.onnx", [acme]) is acme
    assert importer_of(_relu().SerializeToString(), "net.acme", [acme]) is ONNX


def test_an_onnx_file_has_one_network(operators: dict[str, Any]) -> None:
    with pytest.raises(TilewrightError, match="none called 'encoder'") as caught:
        load(_relu().SerializeToString(), ImportOptions(network="encoder"), operators=operators)
    assert (caught.value.code, caught.value.exit_code) == ("TW1243", Exit.USAGE)


def test_an_importer_is_told_which_network_is_meant(operators: dict[str, Any]) -> None:
    told = []
    acme = _acme(load=lambda data, reading: told.append(reading) or ImportedModel(model=_relu()))
    load(b"ACME", ImportOptions(network="encoder", limits=Limits(nodes=7)), operators=operators, importers=[acme])
    assert [(reading.network, reading.limits.nodes) for reading in told] == [("encoder", 7)]


def test_the_suffix_decides_where_bytes_say_nothing() -> None:
    acme, other = _acme(), _acme("other", b"OTHER", suffixes=(".other",))
    assert importer_of(b"damaged", "net.ACME", [acme, other]) is acme
    assert importer_of(b"damaged", "net", [acme, other]) is ONNX
    assert importer_of(b"", "", [acme, other]) is ONNX


def test_two_that_recognise_one_file_are_told_apart_by_its_suffix() -> None:
    acme, other = _acme(), _acme("other", suffixes=(".other",))
    assert importer_of(b"ACME", "net.other", [acme, other]) is other
    with pytest.raises(TilewrightError, match="2 importers take this file") as caught:
        importer_of(b"ACME", "net", [acme, other])
    assert caught.value.code == "TW1240" and caught.value.exit_code is Exit.MODEL
    assert "acme: models of acme" in caught.value.details and ".acme, .other" in caught.value.fix[0]


def test_nobody_else_is_asked_about_onnx(tmp_path: Path) -> None:
    data = _relu().SerializeToString()
    file = tmp_path / "net.onnx"
    file.write_bytes(data)
    assert is_onnx(data, Limits()) and is_onnx(file, Limits())
    assert not is_onnx(b"\x0a\x03abc", Limits())  # protobuf, but without a graph
    assert not is_onnx(data[:-3], Limits())
    with pytest.raises(TilewrightError, match="more than the limit"):
        is_onnx(file, Limits(file_bytes=8))


def test_what_an_importer_says_becomes_the_graph(operators: dict[str, Any]) -> None:
    state = KeptState(output="y", input="x")
    found = ImportedModel(model=_relu("CONV #3"), states=(state,), arithmetic="acme")
    graph = load(b"ACME", operators=operators, importers=[_acme(load=lambda data, reading: found)])
    assert (graph.states, graph.arithmetic) == ((state,), "acme")
    assert [node.origin for node in graph.graph.nodes] == [("CONV #3",)]


def test_what_integers_stand_for_is_as_the_file_says(operators: dict[str, Any]) -> None:
    model = _relu()
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.elem_type = TensorProto.INT8
    says = {name: Quantization(scale=(0.5,), zero_point=(3,)) for name in ("x", "other")}
    found = ImportedModel(model=model, quantization=says)
    tensors = load(b"ACME", operators=operators, importers=[_acme(load=lambda data, reading: found)]).graph.tensors
    assert (tensors["x"].quantization, tensors["y"].quantization) == (says["x"], None)


def test_limits_are_the_users(operators: dict[str, Any]) -> None:
    def refuse(data: bytes, reading: Reading) -> ImportedModel:
        raise model_error("TW1203", f"{reading.limits.nodes} nodes at most", where="layer 1")

    options = ImportOptions(limits=Limits(nodes=7))
    with pytest.raises(TilewrightError, match="7 nodes at most") as caught:
        load(b"ACME", options, operators, [_acme(load=refuse)])
    assert caught.value.where == "model given as bytes: layer 1"


def test_what_an_importer_makes_is_held_to_the_rules_of_a_file(operators: dict[str, Any]) -> None:
    long = ImportedModel(model=_relu("n" * 5000))
    with pytest.raises(TilewrightError, match="a name has 5,000 characters"):
        load(b"ACME", operators=operators, importers=[_acme(load=lambda data, reading: long)])
    with pytest.raises(TilewrightError, match="holds no graph"):
        empty = ImportedModel(model=onnx.ModelProto())
        load(b"ACME", operators=operators, importers=[_acme(load=lambda data, reading: empty)])


@pytest.mark.parametrize("answer", [None, _relu(), ImportedModel(model=b"bytes")])
def test_an_importer_returns_what_it_must(answer: Any, operators: dict[str, Any]) -> None:
    with pytest.raises(TilewrightError, match="importer 'acme': load must return") as caught:
        load(b"ACME", operators=operators, importers=[_acme(load=lambda data, reading: answer)])
    assert caught.value.code == "TW8062"


def test_no_step_is_about_onnx_where_the_file_is_none(operators: dict[str, Any]) -> None:
    wrong = _relu()
    wrong.graph.output[0].type.tensor_type.elem_type = TensorProto.INT8
    made = _acme(load=lambda data, reading: ImportedModel(model=wrong))
    with pytest.raises(TilewrightError, match="is declared i8") as caught:
        load(b"ACME", operators=operators, importers=[made])
    assert caught.value.fix == ("or export the model again",)
    with pytest.raises(TilewrightError, match="is declared i8") as caught:
        load(wrong.SerializeToString(), operators=operators)
    assert "onnx.load" in caught.value.fix[0]


def test_another_runtime_is_given_the_same_as_onnx() -> None:
    whole = embedded(b"ACME", ImportOptions(), [_acme()])
    assert onnx.ModelProto.FromString(whole) == _relu()
