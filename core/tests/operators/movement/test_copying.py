"""Strided copies: the calls of one C function, played in Python, move every element where numpy does."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.walk import Walk
from tilewright.operators.movement.copying import KERNELS, OPERATORS, Move, copy_source, copy_values, deepened
from tilewright.testing.kernels.kernel_run import run_kernel
from tilewright.testing.operator_sites import site_of

ELEMENT = 2  # bytes
CALL = re.compile(r"(?P<function>tw_copy_\w+_(?P<depth>\d))\((?P<arguments>.*)\);")
PIECE = re.compile(r"(?P<function>mem\w+)\((?P<y>.*), (?P<x>.*), (?P<size>\d+)u\);")


def play(statements: str, x: np.ndarray, y: np.ndarray) -> set[str]:
    """Run the calls as `elementwise.c.mako` and C define them, on flat arrays; returns the functions called."""
    called = set()
    for line in statements.splitlines():
        if piece := PIECE.fullmatch(line):
            first_x, first_y = (eval(piece[name], {}, {"x": 0, "y": 0}) for name in ("x", "y"))
            count = int(piece["size"]) // ELEMENT
            y[first_y : first_y + count] = x[first_x : first_x + count]
            called.add(piece["function"])
            continue
        match = CALL.fullmatch(line)
        assert match, line
        depth, words = int(match["depth"]), match["arguments"].split(", ")
        first_x, first_y = (eval(words[place], {}, {"x": 0, "y": 0}) for place in (depth, 2 * depth + 1))
        sources, targets = words[depth + 1 : 2 * depth + 1], words[2 * depth + 2 :]
        assert len(targets) == depth
        for point in product(*(range(int(extent)) for extent in words[:depth])):
            offset = [sum(i * int(step) for i, step in zip(point, steps, strict=True)) for steps in (sources, targets)]
            y[first_y + offset[1]] = x[first_x + offset[0]]
        called.add(match["function"])
    return called


@pytest.mark.slow
@given(shape=st.lists(st.integers(1, 3), min_size=1, max_size=4), data=st.data())
def test_a_transpose(shape: list[int], data: st.DataObject) -> None:
    x = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
    order = data.draw(st.permutations(range(len(shape))))
    expected = np.ascontiguousarray(x.transpose(order))
    move = Move(
        source="x", target="y", extents=tuple(map(str, expected.shape)),
        source_steps=tuple(step // 2 for step in x.transpose(order).strides),
        target_steps=tuple(step // 2 for step in expected.strides),
    )  # fmt: skip
    y = np.full(x.size, -1, np.int16)
    play(str(copy_values(DType.I16, [move])["statements"]), x.ravel(), y)
    assert y.tolist() == expected.ravel().tolist()


def test_moves_of_different_depth_share_one_function() -> None:
    """A block of rows beside a row: the shallow one gets loops of one trip around it."""
    block = Move(source="x", target="y + 1", extents=("2", "3"), source_steps=(3, 1), target_steps=(4, 1))
    row = Move(source="x + 6", target="y", extents=("2",), source_steps=(1,), target_steps=(4,))
    values = copy_values(DType.BF16, [block, row])
    y = np.full(8, -1)
    assert play(str(values["statements"]), np.arange(8), y) == {values["function"]} == {"tw_copy_bf16_2"}
    assert y.tolist() == [6, 0, 1, 2, 7, 3, 4, 5]
    assert (values["depth"], values["inputs"], values["output"]) == (2, [("x", "uint16_t")], ("y", "uint16_t"))


@pytest.mark.parametrize(("overlaps", "function"), [(False, "memcpy"), (True, "memmove")])
def test_what_has_no_gap_is_one_piece(overlaps: bool, function: str) -> None:
    """Where its length is known; with a remainder of a tile it is a loop, which may be empty."""
    piece = Move(
        source="x + 1", target="y", extents=("2", "3"), source_steps=(3, 1), target_steps=(3, 1), overlaps=overlaps
    )
    values = copy_values(DType.I16, [piece])
    assert (values["statements"], copy_source(values)) == (f"{function}(y, x + 1, 12u);", ())
    cut = replace(piece, extents=("n", "3"))
    values = copy_values(DType.I16, [piece, cut])
    assert values["statements"] == f"{function}(y, x + 1, 12u);\ntw_copy_i16_1(n * 3, x + 1, 1, y, 1);"
    assert len(copy_source(values)) == 1


def test_bits_as_they_are() -> None:
    """A float of 16 bits is not loaded as a float: a NaN keeps its bits."""
    move = Move(source="x", target="y", extents=("4",), source_steps=(2,), target_steps=(1,))
    values = copy_values(DType.F16, [move])
    assert values["read"] == {"x": ("uint16_t", str)} and values["expression"] == "x"


def test_deepened_walks_are_the_same() -> None:
    found = deepened(Walk(extents=("n",), steps={"X": (2,), "Y": (1,)}), 3)
    assert found == Walk(extents=("1", "1", "n"), steps={"X": (0, 0, 2), "Y": (0, 0, 1)})


PORTS = list(zip(OPERATORS, KERNELS, strict=True))


@pytest.mark.parametrize(("operator", "kernel"), PORTS, ids=[one.name for one in OPERATORS])
@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize("layout", list(permutations(range(3)))[:3])
def test_it_is_what_passes(
    operator: Operator, kernel: Kernel, dtype: str, layout: tuple[int, ...], tmp_path: Path
) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (2, 3, 4)).astype(dtype)
    site = site_of(operator, [x], {})
    layouts = {"X": layout, "Y": layout}
    (y,) = run_kernel(operator, kernel, site, [x], folder=tmp_path, layouts=layouts)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("operator", OPERATORS, ids=[one.name for one in OPERATORS])
def test_it_is_never_another_name_for_bytes_that_are_there(operator: Operator) -> None:
    site = site_of(operator, [np.zeros((1, 4), np.float32)], {})
    assert operator.alias(site, {"X": (0, 1), "Y": (0, 1)}) == ()
