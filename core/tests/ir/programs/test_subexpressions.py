"""What is inside an expression is found, and other expressions take its place."""

from __future__ import annotations

import pytest

from tilewright.ir.programs.expressions import (
    Cast,
    Choice,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Reference,
    Struct,
    all_of,
    less,
    remainder,
)
from tilewright.ir.programs.subexpressions import names, parts, replaced

A, B, T = Name("a"), Name("b"), Name("t")


def test_names_are_variables_and_functions_but_no_members() -> None:
    one = FunctionCall("f", (Field(Name("box"), "low"), Element(Name("x"), T), Cast("uint8_t *", A * B + 3)))
    assert names([one, Struct("t", (Name("y"),), ("member",))]) == {"f", "box", "x", "t", "a", "b", "y"}


def test_other_expressions_take_the_places_of_some() -> None:
    one = Field(Name("box"), "low") * 2 + T
    assert replaced(one, {Name("box"): Name("before")}) == Field(Name("before"), "low") * 2 + T
    assert replaced(one, {Field(Name("box"), "low"): Number(3), T: A + 1}) == A + 7
    assert replaced(one, {B: A}) is one


@pytest.mark.parametrize(
    "one",
    [
        A + B * 2,
        A * B,
        remainder(A, B),
        all_of(less(A, B), less(B, T)),
        Choice(less(A, B), A, T),
        Cast("uint8_t *", A),
        Reference(A),
        Element(A, B),
        Struct("tw_range", (A, B), ("low", "high")),
        FunctionCall("f", (A, B)),
        Field(A, "low"),
    ],
    ids=str,
)
def test_every_kind_is_built_again_with_another_in_its_place(one: Expression) -> None:
    assert parts(one)
    there = replaced(one, {A: Name("other")})
    assert names([there]) == (names([one]) - {"a"}) | {"other"}
    assert replaced(there, {Name("other"): A}) == one


def test_numbers_and_names_have_nothing_inside() -> None:
    assert parts(Number(3)) == parts(A) == ()
