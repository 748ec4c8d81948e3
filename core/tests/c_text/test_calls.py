"""A call that an author of a kernel wrote, as an expression: what it becomes, and what stays text."""

from __future__ import annotations

import pytest

from tilewright.c_text.calls import read_statement, words
from tilewright.ir.programs.expressions import FunctionCall, Name, Number, Reference, Struct, Verbatim


def test_arguments_are_numbers_names_calls_structs_and_text() -> None:
    found = read_statement("f((t){\n    .a = -4,\n    .b = {.c = g(x), .d = {1, 2}},\n}, &y,\n  (u *)z + 1);")
    inner = Struct("", (FunctionCall("g", (Name("x"),)), Struct("", (Number(1), Number(2)))), ("c", "d"))
    assert found == FunctionCall(
        "f",
        (
            Struct("t", (Number(-4), inner), ("a", "b")),
            Reference(Name("y")),
            Verbatim("(u *)z + 1", frozenset({"u", "z"})),
        ),
    )
    assert str(found) == "f((t){.a = -4, .b = {.c = g(x), .d = {1, 2}}}, &y, (u *)z + 1)"


@pytest.mark.parametrize(
    "text",
    [
        "f(x)",
        "y = f(x);",
        "f(x); g(y);",
        "f(x)(y);",
        'f("a, b");',
        "f(x); /* why */",
        "for (;;) { f(x); }",
        "f((x);",
        ";",
    ],
)
def test_what_is_no_plain_call_stays_text(text: str) -> None:
    assert read_statement(text) is None


@pytest.mark.parametrize(
    "text", ["f()", "f(0)", "f(a, b)", "f((const int32_t *)0)", "f((t){1, -2}, g(h(x), 3) + y[2])"]
)
def test_a_call_is_written_as_it_was_read(text: str) -> None:
    assert str(read_statement(f"{text};")) == text


def test_words_name_something() -> None:
    assert words('f(p->x, 0x1fu, "text", y) /* z */') == {"f", "p", "y"}
