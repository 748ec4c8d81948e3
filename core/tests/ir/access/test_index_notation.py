"""How an index is written: what text means, and what cannot be read."""

from __future__ import annotations

from itertools import product

import pytest

from tilewright.ir.access.index_notation import constant, expression, parse_index, split_indices

VALUES = {"s": 3, "p": 2}


@pytest.mark.parametrize(
    "text",
    [
        "i",
        "4",
        "i+j",
        "i*s+j-p?",
        "2*(i+j)",
        "-(i-j)",
        "s*2*i",
        "(i+j)//2",
        "(i-j)%3",
        "clamp(i-j, 0, s)",
        "i//1",
        "p*4//s",
    ],
)
def test_an_index_has_the_value_that_python_says(text: str) -> None:
    """At every point: what `?` marks is only where it may be outside."""
    index = parse_index(text, ("i", "j"), VALUES, "map")
    assert index is not None
    for i, j in product(range(4), range(3)):
        names = {**VALUES, "i": i, "j": j, "clamp": lambda value, low, high: min(max(value, low), high)}
        assert index.at({"i": i, "j": j}) == eval(text.removesuffix("?"), {}, names)


def test_a_colon_is_the_whole_axis() -> None:
    assert parse_index(":", ("i",), {}, "map") is None


def test_commas_inside_parentheses_do_not_part() -> None:
    assert split_indices("n, clamp(i, 0, 3) , c") == ("n", "clamp(i, 0, 3)", "c")
    assert split_indices("") == ()
    assert split_indices("i,") == ("i",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("i*j", "'i * j' multiplies two loops"),
        ("i//0", "'i // 0' divides by 0"),
        ("i%(p-s)", "'i % (p - s)' divides by -1"),
        ("k", "'k' is neither a loop nor an attribute"),
        ("i+", "cannot read 'i+'"),
        ("f(i)", "'f(i)' is not an integer expression"),
        ("i//j", "'j' is neither a loop nor an attribute"),
        ("1.5", "'1.5' is not an integer expression"),
    ],
)
def test_what_is_no_index_is_quoted_with_its_map(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match="index map 'the map': ") as caught:
        parse_index(text, ("i", "j"), VALUES, "the map")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("s", 3), ("-p", -2), ("s*4+p-1", 13), ("(s+4)//p", 3), ("s-p", 1)]
)
def test_numbers_are_made_of_integers_and_attributes(text: str, value: int) -> None:
    assert constant(expression(text, "map"), VALUES, "map") == value


def test_nothing_is_divided_by_zero() -> None:
    with pytest.raises(ValueError, match="is not an integer expression"):
        constant(expression("4//(p-2)", "map"), VALUES, "map")
