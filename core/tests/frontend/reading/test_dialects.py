"""Who says what an ONNX file means: one dialect, or nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.load import load
from tilewright.frontend.reading.dialects import translated
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.model_formats import Dialect, ImportedModel
from tilewright.ir.tensors.dtypes import DType


def _model(op: str) -> Any:
    x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [1, 3]) for each in "xy")
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], name="n")], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def _double(name: str = "double", **changes: Any) -> Dialect:
    dialect = Dialect(
        name=name,
        summary=f"files of {name}",
        speaks=lambda model, asked: model.graph.node[0].op_type == "Double",
        translate=lambda model, asked, limits: ImportedModel(model=_model("Neg")),
    )
    return replace(dialect, **changes)


def test_a_file_that_is_onnx_is_left_alone() -> None:
    given = ImportedModel(model=_model("Relu"))
    assert translated(given, [_double()], ImportOptions()) is given
    assert translated(given, [], ImportOptions()) is given


def test_a_dialect_says_what_a_file_means() -> None:
    from importlib import import_module

    from tilewright.operators.families import FAMILIES

    operators = {each.name: each for family in FAMILIES for each in import_module(family).OPERATORS}
    found = load(_model("Double").SerializeToString(), operators=operators, dialects=[_double()])
    assert [node.op for node in found.graph.nodes] == ["Neg"]
    with pytest.raises(TilewrightError, match="cannot be imported"):
        load(_model("Double").SerializeToString(), operators=operators)


def test_two_that_take_one_file_are_an_error() -> None:
    with pytest.raises(TilewrightError, match="2 dialects take this file") as caught:
        translated(ImportedModel(model=_model("Double")), [_double(), _double("other")], ImportOptions())
    assert caught.value.code == "TW1250" and caught.value.exit_code is Exit.MODEL
    assert caught.value.details == ("double: files of double", "other: files of other")


def test_types_that_are_asked_for_reach_it() -> None:
    heard: list[Any] = []

    def speaks(model: Any, asked: Any) -> bool:
        heard.append(dict(asked))
        return False

    for options in (
        ImportOptions(io_type=DType.I8),
        ImportOptions(io_type=DType.I8, io_type_of={"x": DType.U8, "z": DType.U8}),
        ImportOptions(),
    ):
        translated(ImportedModel(model=_model("Relu")), [_double(speaks=speaks)], options)
    assert heard == [{"x": DType.I8, "y": DType.I8}, {"x": DType.U8, "y": DType.I8}, {}]


@pytest.mark.parametrize("answer", [None, ImportedModel(model=b"bytes")])
def test_a_wrong_answer_names_the_package(answer: Any) -> None:
    dialect = _double(translate=lambda model, asked, limits: answer)
    with pytest.raises(TilewrightError, match="dialect 'double'"):
        translated(ImportedModel(model=_model("Double")), [dialect], ImportOptions())
