"""Offsets and numbers of a step, taken out and put back: the step is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.machines.kernel import Kernel, Sharing
from tilewright.ir.programs.expressions import (
    Expression,
    FunctionCall,
    Name,
    Number,
    Struct,
    less,
    quotient,
)
from tilewright.ir.programs.program import StepCode
from tilewright.ir.programs.statements import Comment, Declare, For, KernelCall, Mark, PartCall, Statement
from tilewright.transform.step_numbers import StepNumbers, names_in

KERNEL = Kernel(name="toy.k", op="QConv", sharing=Sharing(folds=("taps",)))
NUMBERS = StepNumbers(offsets=frozenset({"CONV_OUT"}), kernels={"toy.k": KERNEL})


def step(*body: Statement) -> StepCode:
    return StepCode(step="s", function="toy_0", comment=(), parameters=(), body=body)


def declared(value: Expression) -> StepCode:
    return step(Declare(type="const int32_t", name="n", value=value))


def called(kernel: str = "toy.k") -> StepCode:
    windows = Struct("tw_windows", (Number(3), Number(24)), ("taps", "width"))
    code = FunctionCall("tw_kernel", (windows, Name("x"), Number(7, unsigned=True)))
    return step(KernelCall(kernel=kernel, code=code, reads=(), writes=()))


def taken(from_step: StepCode) -> list[tuple[str, str]]:
    found = list[tuple[str, str]]()

    def take(value: Expression, hint: str) -> Expression:
        found.append((str(value), hint))
        return value

    assert NUMBERS.replaced(from_step, take) == from_step
    return found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Number(4), [("4", "n")]),
        (Name("CONV_OUT"), [("CONV_OUT", "n")]),
        (Name("row"), []),
        (Name("row") * 2 + 7, [("2", "n_stride"), ("7", "n_more")]),
        (Name("row") * -2 - 7, [("2", "n_stride"), ("7", "n_more")]),
        (Name("row") - Name("low"), []),
        (Name("row") * Name("low") * 5, [("5", "n_stride")]),
        (quotient(Name("row") * 3, 4), [("3", "n_stride")]),
        (less(Name("row"), 4), [("4", "n")]),
    ],
    ids=str,
)
def test_what_may_differ(value: Expression, found: list[tuple[str, str]]) -> None:
    assert taken(declared(value)) == found


def test_the_kernel_says_which_numbers_of_its_call_stay() -> None:
    assert taken(called()) == [("24", "width"), ("7u", "number")]


def test_numbers_of_other_kernels_stay() -> None:
    without = StepNumbers(offsets=NUMBERS.offsets, kernels={"toy.k": replace(KERNEL, sharing=None)})
    for numbers, kernel in ((without, "toy.k"), (NUMBERS, "another")):
        made = numbers.replaced(called(kernel), lambda value, hint: Number(0))
        assert made == called(kernel)


def test_bounds_of_loops_and_arguments_of_parts_may_differ_and_notes_are_left() -> None:
    call = PartCall(role="compute", function="toy_0_compute", arguments=(Number(5),), tile=Number(9))
    mark = Mark(event="live", buffer="b", pointer=Number(6), size_bytes=6)
    loop = For(variable="t", start=Number(0), stop=Number(8), step=Number(1), body=(call, mark, Comment(lines=("2",))))
    assert [text for text, _ in taken(step(loop))] == ["0", "8", "1", "5"]


def test_names_of_what_is_called_are_names() -> None:
    call = PartCall(
        role="compute", function="part", arguments=(FunctionCall("tw_rt_core") + Name("t"),), tile=Number(0)
    )
    assert names_in((call,)) == {"part", "tw_rt_core", "t"}


LEAVES = st.one_of(st.integers(-9, 9).map(Number), st.sampled_from(["row", "low", "CONV_OUT"]).map(Name))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: two[0] + two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] - two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] * two[1]),
        st.tuples(inner, st.integers(1, 5)).map(lambda two: quotient(*two)),
        st.tuples(inner, inner).map(lambda two: FunctionCall("tw_least", two)),
    ),
    max_leaves=12,
)


@given(TREES, st.integers(-50, 50), st.integers(-50, 50))
def test_members_with_these_values_compute_the_same(tree: Expression, row: int, low: int) -> None:
    values: dict[str, Any] = {"row": row, "low": low, "CONV_OUT": 1000, "tw_least": min}

    def take(value: Expression, hint: str) -> Expression:
        name = f"member_{len(values)}"
        values[name] = value.number if value.number is not None else values[str(value)]
        return Name(name)

    shared = NUMBERS.replaced(declared(tree), take).body[0]
    assert isinstance(shared, Declare)
    assert _evaluated(shared.value, values) == _evaluated(tree, values)


def _evaluated(expression: Expression, values: dict[str, Any]) -> object:
    return eval(str(expression).replace("/", "//"), {"__builtins__": {}}, values)
