"""Loops over elements: joined and reordered, they visit exactly what the plain ones do, and write forwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.operators.plain_calls import plain_call, plain_operand
from tilewright.ir.tensors.dtypes import DType
from tilewright.operators.c_code.walk import (
    Nest,
    Walk,
    broadcast_steps,
    elementwise_values,
    elementwise_walk,
    innermost,
    nest,
    walk,
)

UNKNOWN = {"n": 3, "m": 2}


def trips(extents: Sequence[str]) -> list[range]:
    return [range(eval(extent, {}, UNKNOWN)) for extent in extents]


def visited(extents: Sequence[str], steps: dict[str, Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Offsets of all operands, in the order of nested loops."""
    for point in product(*trips(extents)):
        yield tuple(sum(map(int.__mul__, point, own)) for own in steps.values())


@st.composite
def loops(draw: st.DrawFn) -> tuple[list[str], dict[str, list[int]]]:
    """Extents, and steps of a dense row-major output and of an operand in any order, with gaps or repeated."""
    extents = draw(st.lists(st.sampled_from(["1", "2", "3", "n", "m"]), max_size=4))
    sizes = [len(each) for each in trips(extents)]
    dense = [int(np.prod(sizes[axis + 1 :])) for axis in range(len(sizes))]
    other = draw(st.sampled_from([dense, [2 * step for step in dense], [0] * len(dense), draw(st.permutations(dense))]))
    return extents, {"X": list(other), "Y": dense}


@pytest.mark.slow
@given(loops())
def test_every_element_once_and_forwards(written: tuple[list[str], dict[str, list[int]]]) -> None:
    extents, steps = written
    found = walk(extents, steps, "Y")
    seen = list(visited(found.extents, dict(found.steps)))
    assert sorted(seen) == sorted(visited(extents, steps))
    assert [y for _, y in seen] == sorted(y for _, y in seen)


@pytest.mark.parametrize(("extents", "x", "y", "joined"), [
    (["2", "3", "4"], (12, 4, 1), (12, 4, 1), ("24",)),
    (["n", "3", "4"], (12, 4, 1), (12, 4, 1), ("n * 3 * 4",)),
    (["2", "n"], (4, 1), (4, 1), ("2", "n")),  # whether rows follow one another is not known
    (["2", "3", "4"], (24, 8, 2), (12, 4, 1), ("24",)),  # a step, but no gap
    (["2", "3", "4"], (12, 5, 1), (15, 5, 1), ("2", "3", "4")),
    (["2", "3"], (1, 2), (1, 2), ("6",)),  # the output's columns lie outside
    (["1", "1"], (9, 9), (9, 9), ("1",)),
    ([], (), (), ("1",)),
])  # fmt: skip
def test_joined(extents: list[str], x: tuple[int, ...], y: tuple[int, ...], joined: tuple[str, ...]) -> None:
    assert walk(extents, {"X": x, "Y": y}, "Y").extents == joined


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 1), (2, 1, 4), (1, 3, 4), (2, 3, 4)])
def test_broadcast_as_numpy_does(shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.int8)
    operand, target = plain_operand("X", DType.I8, shape), plain_operand("Y", DType.I8, (2, 3, 4))
    assert broadcast_steps(operand, target) == np.broadcast_to(x, (2, 3, 4)).strides


def test_arguments_in_the_order_of_the_function() -> None:
    found = Walk(extents=("n", "4"), steps={"X": (4, 1), "Y": (8, 2)})
    assert found.arguments({"X": "x + 3", "Y": "y"}, ["0.5f"]) == "n, 4, x + 3, 4, 1, y, 8, 2, 0.5f"
    assert found.depth == 2


def test_inputs_that_do_not_move() -> None:
    shapes = {"A": (2, 3), "B": (3,), "Y": (2, 3)}
    operands = {name: plain_operand(name, DType.F32, shape) for name, shape in shapes.items()}
    found = elementwise_walk(operands, "Y", ["A", "B"])
    assert (found.extents, dict(found.steps)) == (("2", "3"), {"A": (3, 1), "B": (0, 1), "Y": (3, 1)})


def test_values_of_a_kernel() -> None:
    """Operands that are no elements (scratch) are no parameters; floats of 16 bits are read and rounded."""
    call = plain_call({"X": (DType.F16, (2, 3)), "scratch": (DType.U8, (8,)), "Y": (DType.F16, (2, 3))})
    values = elementwise_values(call, "half", "x * gain", scalars={"gain": ("float", "2.0f")})
    assert values["function"] == "tw_half_1"
    assert values["inputs"] == [("x", "uint16_t")] and values["output"] == ("y", "uint16_t")
    assert values["scalars"] == [("gain", "float")]
    assert values["arguments"] == "6, x, 1, y, 1, 2.0f"
    assert re.fullmatch(r"tw_f16_of_f32\(x \* gain\)", str(values["expression"]))
    real, load = values["read"]["x"]  # type: ignore[index]  # a mapping of objects
    assert (real, load("x_in[0]")) == ("float", "tw_f32_of_f16(x_in[0])")


WALK = Walk(extents=("2", "1", "n", "4"), steps={"X": (48, 7, 0, 1), "Y": (24, 9, 4, 2)})
HEADER = re.compile(r"for \(int32_t (\w+) = 0; \1 < (\w+); \+\+\1\)")


def moved(found: Nest, operand: str) -> list[int]:
    """The offset of an operand at every trip of the nest, where `n` is 3."""
    loops = [match.groups() for header in found.headers if (match := HEADER.fullmatch(header))]
    assert len(loops) == len(found.headers)
    points = product(*(range(int(extent.replace("n", "3"))) for _, extent in loops))
    names = [name for name, _ in loops]
    return [eval(f"0{found.offsets[operand]}", {}, dict(zip(names, point, strict=True))) for point in points]


def test_what_the_function_does_not_loop_over() -> None:
    found = nest(WALK, 1)
    assert moved(found, "Y") == [0, 4, 8, 24, 28, 32]
    assert moved(found, "X") == [0, 0, 0, 48, 48, 48]


def test_loops_of_one_trip_and_steps_of_zero_are_not_written() -> None:
    found = nest(WALK, 1, prefix="r")
    assert found.headers == ("for (int32_t r0 = 0; r0 < 2; ++r0)", "for (int32_t r2 = 0; r2 < n; ++r2)")
    assert found.offsets == {"X": " + (r0 * 48)", "Y": " + (r0 * 24) + (r2 * 4)"}


@pytest.mark.parametrize("inner", [4, 5])
def test_a_function_that_runs_all_loops(inner: int) -> None:
    assert nest(WALK, inner) == Nest(headers=(), offsets={"X": "", "Y": ""})


def test_innermost() -> None:
    assert innermost(WALK) == ("4", {"X": 1, "Y": 2})
