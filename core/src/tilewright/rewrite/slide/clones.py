"""Knows how a node computes only a part of its output: the part of its inputs that this reads, and its attributes.
Does not know which part is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tilewright.ir.graphs.graph import Attribute, Node
from tilewright.rewrite.slide.intervals import Interval
from tilewright.rewrite.slide.reuse import WINDOWED, Reading, TimeAxis


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """Which positions of an input are read, and how many of the padding before and after them. Where only padding is
    read there is one position that is cut away again: negative numbers.
    """

    interval: Interval
    before: int
    after: int


def reads_of(reading: Reading, length: int, interval: Interval) -> Reads:
    """What the elements `interval` of an output read of an input of this length."""
    low, high = reading.range(*interval)
    first, last = max(0, low), min(length, high)
    if first >= last:
        first = min(first, length - 1)
        last = first + 1
    return Reads(interval=(first, last), before=first - low, after=high - last)


def attributes_of(
    node: Node, made: TimeAxis, reads: Mapping[int, Reads], interval: Interval
) -> Mapping[str, Attribute]:
    """The attributes of a node that computes the elements `interval`, and reads exactly `reads`."""
    at, count = made.axis, interval[1] - interval[0]
    if node.op in WINDOWED:
        (read,), spatial = reads.values(), made.axis - 2
        return {**node.attributes, "pads": _with_ends(node.integers("pads"), spatial, read.before, read.after)}
    if node.op == "Pad":
        (read,) = reads.values()
        return {**node.attributes, "pads": _with_ends(node.integers("pads"), at, read.before, read.after)}
    if node.op == "Slice":
        starts, shape = node.integers("starts"), node.integers("shape")
        return {**node.attributes, "starts": _with(starts, at, 0), "shape": _with(shape, at, count)}
    if node.op == "Reshape":
        return {**node.attributes, "shape": _with(node.integers("shape"), at, count)}
    return node.attributes


def _with_ends(pads: tuple[int, ...], axis: int, before: int, after: int) -> tuple[int, ...]:
    return _with(_with(pads, axis, before), len(pads) // 2 + axis, after)


def _with(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])
