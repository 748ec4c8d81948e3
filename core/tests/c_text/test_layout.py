"""Expressions in lines: what fits is one line, what does not goes on under its bracket."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.c_text.layout import laid_out, prototype
from tilewright.ir.programs.expressions import Cast, Expression, FunctionCall, Name, Number, Struct, all_of, less

NAMES = st.from_regex(r"[a-z]{1,12}", fullmatch=True).map(Name)
EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.builds(FunctionCall, st.sampled_from(("f", "a_longer_name")), st.lists(inner, max_size=6).map(tuple)),
        st.builds(lambda values: Struct("t", tuple(values)), st.lists(inner, min_size=1, max_size=6)),
        st.builds(lambda value: Cast("u *", value), NAMES),
    ),
    max_leaves=25,
)


def test_what_fits_is_one_line() -> None:
    assert laid_out("x = ", FunctionCall("f", (Name("a"), Number(2))), ";") == ["x = f(a, 2);"]


def test_arguments_go_on_under_the_first_one() -> None:
    call = FunctionCall("kernel", tuple(Name(f"operand_{number}") for number in range(4)))
    assert laid_out("", call, ";", 30) == ["kernel(operand_0, operand_1,", "       operand_2, operand_3);"]


def test_a_struct_is_a_block_and_its_members_are_filled_into_lines() -> None:
    axis = Struct("", tuple(map(Number, range(3))), ("outputs", "inputs", "taps"))
    call = FunctionCall("f", (Struct("t", (Number(1), axis, Number(2)), ("a", "row", "b")), Name("x"), Name("y")))
    assert laid_out("", call, ";", 34) == [
        "f((t){",
        "    .a = 1,",
        "    .row = {.outputs = 0,",
        "        .inputs = 1, .taps = 2},",
        "    .b = 2,",
        "}, x, y);",
    ]


def test_a_struct_that_would_open_behind_the_width_opens_in_the_next_line() -> None:
    call = FunctionCall("f", (Name("operand"), Struct("some_type", (Number(1), Number(2)), ("a", "b")), Name("y")))
    assert laid_out("", call, ";", 22) == [
        "f(operand,",
        "    (some_type){",
        "        .a = 1,",
        "        .b = 2,",
        "    }, y);",
    ]


def test_conditions_are_broken_before_operators() -> None:
    condition = all_of(less(Name("alpha"), 3), less(Name("beta"), 4))
    assert laid_out("if (", condition, ") {", 24) == ["if ((alpha < 3)", "    && (beta < 4)) {"]


def test_heads_of_functions() -> None:
    assert prototype("static void", "f", ()) == ["static void f(void)"]
    assert prototype("void", "f", ("int a", "int b"), ";") == ["void f(int a, int b);"]
    long = prototype("void", "f" * 50, (f"const {'t' * 30} *a", f"const {'t' * 30} *b"))
    assert len(long) == 2 and long[1].index("const") == long[0].index("(") + 1
    apart = prototype("t" * 50, "f" * 60, (f"const {'p' * 50} *x",))
    assert all(len(line) <= 120 for line in apart)


@pytest.mark.parametrize("width", [40, 120])
@given(expression=EXPRESSIONS)
def test_only_white_space_is_added(width: int, expression: Expression) -> None:
    lines = laid_out("y = ", expression, ";", width)
    assert "".join("".join(lines).split()).replace(",}", "}") == "".join(f"y = {expression};".split())
    assert all(line == line.rstrip() for line in lines)
