"""Networks of the dialect, made for tests, imported and computed by the reference and by C."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tilewright.comparison.reference import run
from tilewright.frontend.load import Imported, load
from tilewright.frontend.reading.import_options import ImportOptions
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.families import FAMILIES
from tilewright.rewrite import rewrite
from tilewright.rewrite.passes import PASSES
from tilewright_integer_dialect import DIALECT, FLOATS, QONNX
from tilewright_integer_dialect.fusing import FUSE
from tilewright_integer_dialect.pairing import PAIRS
from tilewright_integer_dialect.tables import TABLES
from tilewright_integer_dialect.vocabulary import OPERATORS as OWN

OPERATORS = {
    **{operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS},
    **{operator.name: operator for operator in OWN},
}


def imported(model: Any, types: Mapping[str, str] | None = None) -> Imported:
    """What the model means; inputs are int8 where `types` says nothing else."""
    given = {value.name: "int8" for value in model.graph.input} | dict(types or {})
    asked = {name: DType.from_numpy(np.dtype(kind)) for name, kind in given.items() if kind}
    options = ImportOptions(io_type_of=asked)
    return load(model.SerializeToString(), options, operators=OPERATORS, dialects=[DIALECT, FLOATS, QONNX])


def rewritten_graph(graph: Graph) -> Graph:
    """Behind all passes."""
    return rewrite(graph, OPERATORS, (*PASSES, FUSE, TABLES, PAIRS)).graph


def computed(model: Any, arrays: Mapping[str, Any], types: Mapping[str, str] | None = None) -> list[Any]:
    """The outputs, the same before and behind the graph passes; floats but for roundings."""
    graph = imported(model, types).graph
    both = [
        [values[name] for name in graph.outputs]
        for values in (run(each, dict(arrays), OPERATORS) for each in (graph, rewritten_graph(graph)))
    ]
    for before, behind in zip(*both, strict=True):
        if np.issubdtype(before.dtype, np.floating) and not np.array_equal(before, np.rint(before)):
            np.testing.assert_allclose(before, behind, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(before, behind)
    return both[1]


@pytest.fixture
def read_in() -> Callable[..., Imported]:
    return imported


@pytest.fixture
def rewritten() -> Callable[..., Graph]:
    return lambda model, types=None: rewritten_graph(imported(model, types).graph)


@pytest.fixture
def compute() -> Callable[..., list[Any]]:
    return computed


@pytest.fixture
def right_in_c(tmp_path: Path) -> Callable[..., list[str]]:
    """What is wrong with a kernel's C on these arrays, whole and in tiles: nothing."""
    from tilewright.testing.kernels.kernel_checks import kernel_errors
    from tilewright.testing.operator_sites import site_of

    def errors(op: str, arrays: list[Any], attributes: dict[str, Any], constants: tuple[int, ...] = ()) -> list[str]:
        from tilewright_integer_dialect.vocabulary import KERNELS

        (kernel,) = (kernel for kernel in KERNELS if kernel.op == op)
        site = site_of(OPERATORS[op], arrays, attributes, constants)
        return kernel_errors(OPERATORS[op], kernel, site, arrays, np.random.default_rng(1), tmp_path)

    return errors
