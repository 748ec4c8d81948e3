"""A node for a part of its output: what it reads, and its attributes."""

from __future__ import annotations

import pytest

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.slide.clones import Reads, attributes_of, reads_of
from tilewright.rewrite.slide.reuse import Reading, TimeAxis

TIME = TimeAxis(axis=2, length=10, stride=1, shift=1, low=1, high=9)


@pytest.mark.parametrize(
    ("interval", "reads"),
    [
        ((0, 2), Reads(interval=(0, 3), before=2, after=0)),
        ((4, 5), Reads(interval=(2, 6), before=0, after=0)),
        ((8, 10), Reads(interval=(6, 10), before=0, after=1)),
    ],
)
def test_what_is_read_and_what_is_padding(interval: tuple[int, int], reads: Reads) -> None:
    assert reads_of(Reading(step=1, first=-2, last=1), 10, interval) == reads


def test_where_only_padding_is_read_one_position_is_cut_away_again() -> None:
    assert reads_of(Reading(step=1, first=-4, last=-4), 10, (0, 3)) == Reads(interval=(0, 1), before=4, after=-2)


@pytest.mark.parametrize(
    ("op", "attributes", "name", "value"),
    [
        ("Conv", {"pads": (1, 7, 1, 7)}, "pads", (2, 7, 3, 7)),
        ("Pad", {"pads": (0, 0, 4, 0, 0, 4)}, "pads", (0, 0, 2, 0, 0, 3)),
        ("Slice", {"starts": (0, 0, 5), "shape": (1, 2, 9)}, "starts", (0, 0, 0)),
        ("Slice", {"starts": (0, 0, 5), "shape": (1, 2, 9)}, "shape", (1, 2, 4)),
        ("Reshape", {"shape": (1, 2, 9)}, "shape", (1, 2, 4)),
        ("Softmax", {"axis": 1}, "axis", 1),
    ],
)
def test_attributes(op: str, attributes: dict[str, Attribute], name: str, value: Attribute) -> None:
    node = Node(name="n", op=op, inputs=("x",), outputs=("y",), attributes=attributes)
    read = {0: Reads(interval=(0, 4), before=2, after=3)}
    assert attributes_of(node, TIME, read, (3, 7))[name] == value
