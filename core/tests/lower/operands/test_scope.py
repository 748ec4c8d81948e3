"""Which names statements refer to: what is declared and handed over is what is used."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest

from tilewright.ir.programs.expressions import ALWAYS, Element, FunctionCall, Name, Number, less
from tilewright.ir.programs.program import Parameter, Part
from tilewright.ir.programs.statements import (
    Charge,
    Declare,
    For,
    Foreign,
    If,
    KernelCall,
    Mark,
    PartCall,
    Statement,
    Switch,
    While,
)
from tilewright.lower.operands.c_boxes import CSpan
from tilewright.lower.operands.scope import called, declared, names_of, spans_declared, used

A, B, C = Name("a"), Name("b"), Name("c")


def charge(value: Name) -> Charge:
    return Charge(code=FunctionCall("f", (value,)))


def declare(name: str, value: Name | Number) -> Declare:
    return Declare(type="int32_t", name=name, value=value)


def test_every_kind_of_statement_is_looked_into() -> None:
    body: tuple[Statement, ...] = (
        For(variable="i", start=Number(0), stop=A, step=Number(1), body=(charge(B),)),
        If(condition=less(C, 3), body=(), otherwise=(charge(Name("d")),)),
        While(condition=Name("e"), body=()),
        Switch(value=Name("g"), bodies=((charge(Name("h")),),)),
        PartCall(role="fetch", function="part", arguments=(Element(Name("x"), Name("t")),), tile=Number(0)),
        KernelCall(kernel="k", code=Foreign(text="run(y);", names=frozenset({"run", "y"})), reads=(), writes=()),
    )
    assert names_of(body) == {"a", "b", "c", "d", "e", "f", "g", "h", "part", "x", "t", "run", "y"}


def test_marks_are_no_code() -> None:
    assert names_of([Mark(event="live", buffer="m", pointer=A, size_bytes=4)]) == set()


def test_a_declaration_is_kept_for_what_follows() -> None:
    one, two, three = declare("one", Number(1)), declare("two", Name("one")), declare("three", Name("two"))
    assert declared((one, two, three), [charge(Name("two"))]) == (one, two)
    assert declared((two, one), [charge(Name("two"))]) == (two,), "what is declared later is another one"
    assert declared((one,), [charge(A)]) == ()
    loop = If(condition=ALWAYS, body=(charge(B),))
    assert declared((one, loop), []) == (loop,), "only declarations are left out"


def test_parameters_are_those_that_are_named_each_once() -> None:
    a, b, other = Parameter(type="int", name="a"), Parameter(type="int", name="b"), Parameter(type="char", name="a")
    assert used((a, b, a), [charge(A)]) == (a,)
    assert used((a, b, other), [charge(A), charge(B)]) == (other, b)


def test_axes_of_windows_that_are_named() -> None:
    spans = [CSpan(low=A, extent=B, name=name, value=FunctionCall("w")) for name in ("a", "", "b")]
    assert [one.name for one in spans_declared(spans, [charge(A)]) if isinstance(one, Declare)] == ["a"]


def test_boxes_that_nothing_asks_for_are_left_out() -> None:
    def part(role: str, function: str, *body: Statement) -> Part:
        return Part(role=role, function=function, comment=(), parameters=(), body=body)

    asked = declare("box", Number(0))
    asked = Declare(type="t", name="box", value=FunctionCall("tile"))
    parts = (part("box", "tile"), part("box", "unused"), part("fetch", "fetch", asked))
    assert [one.function for one in called(parts, ())] == ["tile", "fetch"]


KINDS = [kind for kind in get_args(Statement) if kind.__name__ not in ("Live", "Dead", "Mark")]  # those are no code
NOT_WRITTEN = {(PartCall, "tile")}  # for whom the call is, which marks are told


def filled(kind: Any) -> tuple[Statement, set[str]]:
    """A statement each of whose fields names itself, if it can; and those names."""
    given: dict[str, Any] = {}
    for one in fields(kind):
        name = Name(one.name)
        values = {
            "Expression": name,
            "Code": name,
            "tuple[Expression, ...]": (name,),
            "tuple[Statement, ...]": (Charge(code=name),),
            "tuple[tuple[Statement, ...], ...]": ((Charge(code=name),),),
        }
        given[one.name] = values.get(one.type, "text")
    named = {name for name, value in given.items() if value != "text" and (kind, name) not in NOT_WRITTEN}
    return kind(**given), named


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_kind_of_statement_is_passed_over(kind: Any) -> None:
    statement, named = filled(kind)
    assert named <= names_of((statement,)) <= named | {"text"}
