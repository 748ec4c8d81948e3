"""Views have the numbers of what they show, in the order in which they are stored, in a few words."""

from __future__ import annotations

import tracemalloc
from importlib import import_module
from itertools import permutations

import numpy as np
import pytest

from tilewright.check.plans.byte_runs import Runs
from tilewright.check.plans.value_numbers import ValueNumbers
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import Layout, row_major
from tilewright.operators.families import FAMILIES

OPERATORS = {operator.name: operator for family in FAMILIES for operator in import_module(family).OPERATORS}


def _numbers(tensors: tuple[Tensor, ...], node: Node, layouts: dict[str, Layout]) -> tuple[ValueNumbers, list[str]]:
    graph = Graph(
        name="g",
        inputs=tuple(dict.fromkeys(node.inputs)),
        outputs=node.outputs,
        nodes=(node,),
        tensors={tensor.name: tensor for tensor in tensors},
        constants={},
    )
    numbers = ValueNumbers(graph, {tensor.name: row_major(len(tensor.shape)) for tensor in tensors} | layouts)
    return numbers, list(numbers.give(set(), OPERATORS))


def _transposed(shape: tuple[int, ...], perm: tuple[int, ...], dtype: DType, layouts: dict[str, Layout]) -> Runs:
    tensors = (
        Tensor(name="x", dtype=dtype, shape=shape),
        Tensor(name="y", dtype=dtype, shape=tuple(shape[axis] for axis in perm)),
    )
    node = Node(name="n", op="Transpose", inputs=("x",), outputs=("y",), attributes={"perm": perm})
    numbers, faults = _numbers(tensors, node, layouts)
    assert not faults
    return numbers.stored("y")


@pytest.mark.parametrize("dtype", [DType.I8, DType.F32])
@pytest.mark.parametrize("perm", tuple(permutations(range(3))))
def test_a_moved_element_keeps_its_number(perm: tuple[int, ...], dtype: DType) -> None:
    shape, first, size = (7, 9, 11), 8, dtype.size_bytes  # 693 elements: numbers of two digits
    expected = np.arange(7 * 9 * 11).reshape(shape).transpose(perm).ravel()
    found = [
        number for count, begin in _transposed(shape, perm, dtype, {}) for number in range(begin, begin + count, size)
    ]
    assert found == (first + expected * size).tolist()


def test_a_transpose_that_only_changes_the_layout_is_one_run() -> None:
    perm = (0, 2, 3, 1)
    runs = _transposed((1, 3, 64, 64), perm, DType.F32, {"x": perm})
    assert runs == ((3 * 64 * 64 * 4, 8),)


def test_a_view_needs_a_few_times_its_bytes() -> None:
    tracemalloc.start()
    runs = _transposed((1, 3, 1024, 1024), (0, 2, 3, 1), DType.I8, {"x": (0, 2, 3, 1)})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(runs) == 1
    assert peak < 8 * 3 * 1024 * 1024  # it was 32


def test_computing_is_no_view() -> None:
    tensors = tuple(Tensor(name=name, dtype=DType.F32, shape=(3,)) for name in ("x", "y"))
    numbers, faults = _numbers(
        tensors, Node(name="n", op="Equal", inputs=("x", "x"), outputs=("y",), attributes={}), {}
    )
    assert faults == ["node 'n' is not executed, but does more than move elements"]
    assert numbers.owner(numbers.stored("y")[0][1]) == "part of 'y'"
    assert numbers.owner(0) == "nothing, or scratch"
