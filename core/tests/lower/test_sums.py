"""Sums of C expressions: arithmetic on them is arithmetic on what their text evaluates to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.lower.sums import Sum, factor, variable

VALUES = {"a": 5, "b": -3, "c": 7}
PRODUCTS = st.builds(lambda name, by: variable(name) * by, st.sampled_from("abc"), st.integers(-3, 3))
PARTS = st.lists(st.one_of(st.integers(-4, 4).map(Sum), PRODUCTS), min_size=1, max_size=5)
SUMS = PARTS.map(lambda parts: sum(parts[1:], start=parts[0]))


def value(text: str) -> int:
    """What C makes of it: only +, -, * and parentheses occur."""
    return int(eval(text, {}, VALUES))


@given(SUMS, SUMS, st.integers(-3, 3))
def test_texts_evaluate_to_what_is_counted(one: Sum, other: Sum, by: int) -> None:
    assert value(str(one + other)) == value(str(one)) + value(str(other))
    assert value(str(one - other)) == value(str(one)) - value(str(other))
    assert value(str(one * by)) == value(str(one)) * by
    assert value(str(one + by)) == value(str(one)) + by


@given(SUMS)
def test_what_is_the_same_is_nothing(one: Sum) -> None:
    assert (one - one).number == 0
    assert (one.number is None) == bool(one.terms)
    assert not any(count == 0 for count, _ in one.terms)


@given(SUMS)
def test_a_primary_may_stand_beside_any_operator(one: Sum) -> None:
    assert value(f"2 * {one.primary()}") == 2 * value(str(one))
    assert value(f"1 - {one.primary()}") == 1 - value(str(one))


def test_texts_are_as_short_as_they_can_be() -> None:
    a, b = variable("a"), variable("b")
    assert [str(one) for one in (a, a * -1, a * 2 + 3, b - a, a - 1, Sum(), a - a)] == [
        "a", "-a", "2 * a + 3", "b - a", "a - 1", "0", "0",
    ]  # fmt: skip
    assert [one.primary() for one in (a, a * 2, a + b, Sum(4), Sum(-4), a + 1)] == [
        "a", "(2 * a)", "(a + b)", "4", "(-4)", "(a + 1)",
    ]  # fmt: skip
    assert (factor("a"), factor("a + b")) == ("a", "(a + b)")
