"""Short names tell names apart, however converters made them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.short_names import short_names

JOINED = "model/act{0}/Relu;model/bn{0}/Fused;model/conv_1/Conv2D"


def shown(*names: str) -> list[str]:
    return list(short_names(names).values())


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["/f/conv1/Conv_output_0", "/f/conv2/Relu_output_0"], ["Conv_output_0", "Relu_output_0"]),
        (["/f/conv1/Conv", "/f/conv2/Conv"], ["conv1", "conv2"]),
        (["a/x/Conv", "a/y/Conv", "b/x/Conv"], ["a/x", "y", "b"]),
        ([JOINED.format(""), JOINED.format("_1")], ["act", "act_1"]),
        (["x", "x/Relu"], ["x", "Relu"]),
        (["conv1", "pool1"], ["conv1", "pool1"]),
        (["", "/", ";", "a"], ["", "/", ";", "a"]),
    ],
)
def test_the_shortest_part_that_no_other_has(names: list[str], expected: list[str]) -> None:
    assert shown(*names) == expected


def test_what_is_only_added_to_a_name_stays() -> None:
    layer = JOINED.format("")
    names = (layer, f"{layer}_prequant", f"{layer}_prequant.W", f"{layer}_prequant.X@l1#0", JOINED.format("_1"))
    assert shown(*names) == ["act", "act_prequant", "act_prequant.W", "act_prequant.X@l1#0", "act_1"]


def test_two_names_that_would_be_shown_alike_are_shown_whole() -> None:
    assert shown("a/conv", "a/conv_2", "b/conv_2") == ["conv", "a/conv_2", "b/conv_2"]


PART = st.text(alphabet="ab_.", min_size=1, max_size=3)
NAME = st.lists(st.lists(PART, min_size=1, max_size=4).map("/".join), min_size=1, max_size=3).map(";".join)


@pytest.mark.slow
@given(st.lists(st.one_of(NAME, st.text(max_size=8)), max_size=12))
def test_no_two_are_alike_and_none_is_longer(names: list[str]) -> None:
    found = short_names(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    assert all(len(short) <= len(name) for name, short in found.items())
