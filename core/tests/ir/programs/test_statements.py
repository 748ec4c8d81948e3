"""Statements: everything inside loops and branches is found, replaced inside first, and its bytes are counted."""

from __future__ import annotations

from tilewright.ir.programs.expressions import Name, Number
from tilewright.ir.programs.statements import (
    ByteRange,
    Comment,
    CopyStart,
    For,
    Foreign,
    If,
    KernelCall,
    Raw,
    Switch,
    replaced,
    statements_in,
)
from tilewright.ir.programs.statements import touched as touched_by

ONE, TWO, THREE = (Raw(text=text) for text in ("one;", "two;", "three;"))
LOOP = For(variable="i", start=Number(0), stop=Number(4), step=Number(1), body=(TWO,))
TREE = (ONE, If(condition=Name("x"), body=(LOOP,), otherwise=(THREE,)))


def test_every_statement_is_met_in_the_order_of_text() -> None:
    assert list(statements_in(TREE)) == [ONE, TREE[1], LOOP, TWO, THREE]


def test_replacing_reaches_every_depth_and_may_drop() -> None:
    def twice(statement):
        return (statement, statement) if statement == TWO else () if statement == THREE else (statement,)

    (one, branch) = replaced(TREE, twice)
    assert one == ONE
    assert branch.body[0].body == (TWO, TWO)
    assert branch.otherwise == ()
    assert replaced(TREE, lambda statement: (statement,)) == TREE


def test_inner_statements_are_replaced_before_their_loop() -> None:
    def folded(statement):
        return (Comment(lines=("loop",)),) if isinstance(statement, For) and not statement.body else (statement,)

    dropped = replaced((LOOP,), lambda one: () if one == TWO else folded(one))
    assert dropped == (Comment(lines=("loop",)),)


def test_what_is_read_and_written() -> None:
    a, b, c = (ByteRange(buffer=name, offset_bytes=0, size_bytes=4) for name in "abc")
    call = KernelCall(kernel="k", code=Foreign(text="k();"), reads=(a,), writes=(b,))
    copy = CopyStart(transfer="t", code=Foreign(text=""), source=a, target=b, more_sources=(c,), more_targets=(a,))
    assert list(touched_by([call])) == [(a, False), (b, True)]
    assert list(touched_by([copy])) == [(a, False), (c, False), (b, True), (a, True)]
    assert list(touched_by([Raw(text="x;")])) == []


def test_every_case_of_a_switch_is_met_and_replaced() -> None:
    chosen = Switch(value=Name("x"), bodies=((ONE,), (TWO, THREE)))
    assert list(statements_in((chosen,))) == [chosen, ONE, TWO, THREE]
    (without,) = replaced((chosen,), lambda one: () if one == TWO else (one,))
    assert without == Switch(value=Name("x"), bodies=((ONE,), (THREE,)))
