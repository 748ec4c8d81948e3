"""Sums written as C: evaluated, they are the sums; nothing that is 0 is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.operators.c_code.c_index import c_moved, c_sum

VALUES = {"i": 3, "n0": 1000, "p": 7_000_000}
terms = st.lists(st.tuples(st.integers(-9, 9), st.sampled_from(["i", "n0", "0", "1", "12"])), max_size=4)


def wanted(written: list[tuple[int, str]]) -> int:
    return sum(factor * (VALUES[name] if name in VALUES else int(name)) for factor, name in written)


@given(constant=st.integers(-20, 20), written=terms)
def test_sums(constant: int, written: list[tuple[int, str]]) -> None:
    text = c_sum(constant, *written)
    assert eval(text, {}, VALUES) == constant + wanted(written)
    assert not {"0", "*0", "--"} & set(text.split()) or text == "0"


@given(written=terms)
def test_moved_pointers(written: list[tuple[int, str]]) -> None:
    text = c_moved("p", *written)
    assert eval(text, {}, VALUES) == VALUES["p"] + wanted(written)
    assert eval(f"{text} - p", {}, VALUES) == wanted(written)
    assert (text == "p") == (c_sum(0, *written) == "0")


@pytest.mark.parametrize(("constant", "written", "text"), [
    (0, [], "0"),
    (4, [(1, "i"), (-1, "j")], "4 + i - j"),
    (0, [(-2, "i")], "-2 * i"),
    (5, [(3, "2"), (0, "i"), (-11, "1")], "0"),
])  # fmt: skip
def test_as_a_person_would(constant: int, written: list[tuple[int, str]], text: str) -> None:
    assert c_sum(constant, *written) == text
