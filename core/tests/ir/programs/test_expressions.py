"""Expressions say the same in Python, in C as it is written, and in C as a compiler reads it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilewright.ir.programs.expressions import (
    ALWAYS,
    NEVER,
    Cast,
    Choice,
    Element,
    Expression,
    Field,
    FunctionCall,
    Name,
    Number,
    Operation,
    Product,
    Reference,
    Struct,
    Sum,
    added,
    all_of,
    equal,
    folded,
    less,
    operation,
    quotient,
    remainder,
)
from tilewright.ir.programs.subexpressions import replaced

A, B, T = Name("a"), Name("b"), Name("t")


def evaluated(one: Expression, values: Mapping[str, int]) -> int:
    """What C computes; ZeroDivisionError where it would divide by zero."""

    def of(part: Expression) -> int:
        return evaluated(part, values)

    match one:
        case Number(value=value):
            return value
        case Name(text=text):
            return values[text]
        case Sum(constant=constant, terms=terms):
            return constant + sum(factor * of(term) for factor, term in terms)
        case Product(factors=factors):
            total = 1
            for factor in factors:
                total *= of(factor)
            return total
        case Operation(operator="/" | "%" as operator, left=left, right=right):
            whole = abs(of(left)) // abs(of(right)) * (1 if of(left) * of(right) > 0 else -1)
            return whole if operator == "/" else of(left) - whole * of(right)
        case Operation(operator=operator, left=left, right=right):
            return int(eval(f"{of(left)} {operator.replace('&&', 'and')} {of(right)}") != 0)
        case Choice(condition=condition, yes=yes, no=no):
            return of(yes) if of(condition) else of(no)
        case FunctionCall(function="tw_least", arguments=(left, right)):
            return min(of(left), of(right))
        case Field(of=Name(text=text), member=member):
            return values[f"{text}.{member}"]
        case _:
            raise AssertionError(one)


LEAVES = st.one_of(
    st.integers(-9, 9).map(Number),
    st.sampled_from([A, B, T, Field(Name("box"), "low"), Field(Name("box"), "high")]),
)


def larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda pair: pair[0] + pair[1]),
        pairs.map(lambda pair: pair[0] - pair[1]),
        pairs.map(lambda pair: pair[0] * pair[1]),
        st.tuples(st.integers(-4, 4), inner).map(lambda pair: pair[1] * pair[0]),
        st.builds(operation, st.sampled_from(["/", "%", "<", ">", ">=", "=="]), inner, inner),
        pairs.map(lambda pair: all_of(less(*pair), equal(*pair[::-1]))),
        st.builds(Choice, inner, inner, inner),
        pairs.map(lambda pair: folded("tw_least", pair)),
    )


EXPRESSIONS = st.recursive(LEAVES, larger, max_leaves=12)
NUMBERS = st.fixed_dictionaries({name: st.integers(-20, 20) for name in ("a", "b", "t", "box.low", "box.high")})


@pytest.mark.slow
@given(EXPRESSIONS, NUMBERS)
def test_what_is_added_up_now_is_what_would_be_added_up_later(one: Expression, values: Mapping[str, int]) -> None:
    known: dict[Expression, Expression] = {Name(name): Number(values[name]) for name in "abt"}
    known |= {Field(Name("box"), end): Number(values[f"box.{end}"]) for end in ("low", "high")}
    try:
        expected = evaluated(one, values)
    except ZeroDivisionError:
        return
    assert evaluated(replaced(one, known), values) == expected


@pytest.mark.slow
@given(st.lists(st.tuples(EXPRESSIONS, NUMBERS), min_size=20, max_size=20))
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_compiler_reads_what_was_meant(
    tmp_path: Path, cc: Callable[..., tuple[str, ...]], cases: list[tuple[Expression, Mapping[str, int]]]
) -> None:
    calls, expected = [], []
    for one, values in cases:
        try:
            expected.append(evaluated(one, values))
        except ZeroDivisionError:
            continue
        numbers = ", ".join(str(values[name]) for name in ("a", "b", "t", "box.low", "box.high"))
        calls.append((len(calls), one, numbers))
    parameters = "int64_t a, int64_t b, int64_t t, tw_range box"
    lines = ["#include <stdint.h>", "#include <stdio.h>", "typedef struct { int64_t low, high; } tw_range;"]
    lines += ["static int64_t tw_least(int64_t a, int64_t b) { return a < b ? a : b; }"]
    lines += [f"static int64_t f{at}({parameters}) {{ return {one}; }}" for at, one, _ in calls]
    prints = [f'printf("%lld\\n", (long long)f{at}({_call(numbers)}));' for at, _, numbers in calls]
    (tmp_path / "all.c").write_text("\n".join([*lines, "int main(void) {", *prints, "return (int)tw_least(0, 0); }\n"]))
    subprocess.run(
        [*cc("-O0", "-Wno-parentheses"), "-o", "all", "all.c"], cwd=tmp_path, check=True, capture_output=True
    )
    printed = subprocess.run([tmp_path / "all"], check=True, capture_output=True, text=True).stdout
    assert [int(line) for line in printed.split()] == expected


def _call(numbers: str) -> str:
    a, b, t, low, high = numbers.split(", ")
    return f"{a}, {b}, {t}, (tw_range){{{low}, {high}}}"


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (Number(3) - A, "3 - a"),
        (A - B * 2 + 3, "a - (2 * b) + 3"),
        (A - A + 1, "1"),
        (added((-1, A), (-2, B)), "-a - (2 * b)"),
        ((A + 1) * 4, "(4 * a) + 4"),
        ((A + 1) * (B - 1), "(a + 1) * (b - 1)"),
        (A * B * 2 + 1, "(2 * a * b) + 1"),
        (quotient(A * 4, 3), "(4 * a) / 3"),
        (quotient(A, B * 2), "a / (2 * b)"),
        (quotient(A, 2) * 2, "2 * (a / 2)"),
        (remainder(quotient(T, 3), 2), "(t / 3) % 2"),
        (remainder(T + 1, 2), "(t + 1) % 2"),
        (all_of(equal(remainder(T + 1, 3), 0), less(T + 3, 6)), "(((t + 1) % 3) == 0) && ((t + 3) < 6)"),
        (Choice(less(A, B), A, B) + 1, "((a < b) ? a : b) + 1"),
        (Cast("const float *", A + 4), "(const float *)(a + 4)"),
        (Reference(Element(Name("x"), remainder(T, 2))), "&x[t % 2]"),
        (Field(Name("slot"), "bytes", arrow=True) + 8, "slot->bytes + 8"),
        (Field(FunctionCall("f", (A,)), "low"), "f(a).low"),
        (Struct("tw_range", (Number(0), A)), "(tw_range){0, a}"),
        (Struct("", (A, Reference(B)), ("bytes", "queue")), "{.bytes = a, .queue = &b}"),
        (FunctionCall("charge", (Number(80, unsigned=True),)), "charge(80u)"),
        (A * Number(-2), "-2 * a"),
        (quotient(Number(-7), A), "(-7) / a"),
    ],
)
def test_c_has_the_parentheses_that_it_needs(one: Expression, text: str) -> None:
    assert str(one) == text


@pytest.mark.parametrize(
    ("one", "value"),
    [
        (quotient(Number(-7), 2), -3),
        (remainder(Number(-7), 2), -1),
        (less(Number(3), 3), 0),
        (equal(Number(3), 3), 1),
        (remainder(A, 1), 0),
        (all_of(), 1),
        (all_of(ALWAYS, NEVER, less(A, B)), 0),
        (A * 0, 0),
    ],
)
def test_what_is_known_is_a_number(one: Expression, value: int) -> None:
    assert one.number == value


def test_what_c_leaves_open_is_left_to_c() -> None:
    assert str(quotient(Number(5), 0)) == "5 / 0"
    assert quotient(A, 1) == A
    assert all_of(ALWAYS, less(A, B)) == less(A, B)


def test_one_value_of_several() -> None:
    assert str(folded("tw_least", [A, B, A, T])) == "tw_least(tw_least(a, b), t)"
    assert folded("tw_least", [A, A]) == A
