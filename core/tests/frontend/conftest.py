"""Knows how a test makes a small model, imports it, and checks an error. Does not know what is tested."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import onnx
import pytest
from onnx import TensorProto, helper

from tilewright.errors import Exit, TilewrightError
from tilewright.frontend.load import Imported, load
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.operator import Operator
from tilewright.operators.families import FAMILIES

SCREEN_LINES = 24

Refuses = Callable[..., str]
Loads = Callable[..., Imported]


@pytest.fixture(scope="session")
def vocabulary() -> Mapping[str, Operator]:
    """Every operator of the core's families."""
    found: dict[str, Operator] = {}
    for name in FAMILIES:
        found.update((operator.name, operator) for operator in importlib.import_module(name).OPERATORS)
    return MappingProxyType(found)


@pytest.fixture(scope="session")
def model() -> Callable[..., onnx.ModelProto]:
    """Makes a model of one float graph: x[1, 4] -> y unless said otherwise."""

    def make(
        nodes: Sequence[onnx.NodeProto],
        *,
        inputs: Sequence[onnx.ValueInfoProto] | None = None,
        outputs: Sequence[onnx.ValueInfoProto] | None = None,
        constants: Sequence[onnx.TensorProto] = (),
        opset: int = 17,
        domains: Mapping[str, int] = MappingProxyType({}),
        functions: Sequence[onnx.FunctionProto] = (),
    ) -> onnx.ModelProto:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(
            list(nodes), "net", list(inputs or [x]), list(outputs or [y]), initializer=list(constants)
        )
        sets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, v) for name, v in domains.items())]
        return helper.make_model(graph, opset_imports=sets, functions=list(functions))

    return make


@pytest.fixture(scope="session")
def loads(vocabulary: Mapping[str, Operator]) -> Loads:
    """Imports a model, bytes or a path."""

    def run(source: onnx.ModelProto | bytes | Path, **options: object) -> Imported:
        given = source.SerializeToString() if isinstance(source, onnx.ModelProto) else source
        return load(given, ImportOptions(**options), vocabulary)

    return run


@pytest.fixture(scope="session")
def refuses(loads: Loads) -> Refuses:
    """Imports a model that must be refused; checks the error's form and returns its text."""

    def run(source: onnx.ModelProto | bytes | Path, code: str, exit_code: Exit = Exit.MODEL, **options: object) -> str:
        with pytest.raises(TilewrightError) as caught:
            loads(source, **options)
        error, text = caught.value, str(caught.value)
        assert (error.code, error.exit_code) == (code, exit_code), text
        assert error.where, "names no place"
        assert error.fix, "has no next step"
        assert len(text.splitlines()) <= SCREEN_LINES
        assert max(map(len, text.splitlines())) < 400
        assert all(character.isprintable() or character == "\n" for character in text)
        return text

    return run
