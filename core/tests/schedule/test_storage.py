"""Values share bytes as their aliases say, a refused alias leaves nothing behind, and chains are quick."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from counted import counted

from tilewright.ir.graphs.graph import Graph, Tensor
from tilewright.ir.graphs.operator import Alias
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule.storage import Sharing


def graph(*names: str, outputs: tuple[str, ...] = (), length: int = 8) -> Graph:
    """Values of f32 without nodes; `x` is the input, `c` a constant."""
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(length,)) for name in ("x", "c", *names)}
    constants = {"c": np.zeros(length, np.float32)}
    return Graph(name="g", inputs=("x",), outputs=outputs, nodes=(), tensors=tensors, constants=constants)


def test_aliases_of_aliases_are_in_one_buffer() -> None:
    sharing = Sharing(graph("a", "b", "d"))
    assert sharing.add_all((Alias(value="b", of="a", offset=2),))
    assert sharing.add_all((Alias(value="d", of="b", offset=1),))
    assert (sharing.root("d"), sharing.bytes_of("d")) == (("a", 12), (12, 44))
    assert list(sharing.members("a")) == ["a", "b", "d"]
    assert sharing.is_inside("d") and not sharing.is_inside("a")


def test_a_group_moves_with_its_root() -> None:
    sharing = Sharing(graph("a", "b", "d"))
    sharing.join("b", "a", 4)
    sharing.join("a", "d", 16)
    assert [sharing.root(name) for name in "abd"] == [("d", 16), ("d", 20), ("d", 0)]


@pytest.mark.parametrize(
    "refused",
    [Alias(value="x", of="d"), Alias(value="d", of="c"), Alias(value="b", of="d"), Alias(value="y", of="x")],
    ids=["input", "constant", "already inside", "input and output"],
)
def test_all_aliases_of_a_node_or_none(refused: Alias) -> None:
    sharing = Sharing(graph("a", "b", "d", "y", outputs=("y",)))
    assert not sharing.add_all((Alias(value="b", of="a", offset=1), Alias(value="a", of="x"), refused))
    assert [sharing.root(name) for name in "abdxy"] == [(name, 0) for name in "abdxy"]
    assert all(list(sharing.members(name)) == [name] for name in "abdxy")
    assert not sharing.is_given("a") and sharing.is_given("x")


def test_what_is_pinned_apart_shares_nothing() -> None:
    sharing = Sharing(graph("a", "b", "d"), pins={"a": "ram", "d": "far"})
    assert sharing.add_all((Alias(value="b", of="a"),))
    assert sharing.pinned_apart("b", "d")
    assert not sharing.add_all((Alias(value="d", of="b"),))


def test_what_a_kernel_wants_aligned_is_inside_another_only_where_that_is_so() -> None:
    sharing = Sharing(graph("a", "b", "d"), aligns={"b": 16, "d": 8})
    assert not sharing.add_all((Alias(value="b", of="a", offset=2),))
    assert sharing.add_all((Alias(value="b", of="a", offset=4),))
    assert sharing.add_all((Alias(value="d", of="b", offset=2),))
    assert (sharing.align_of("a"), sharing.root("d")) == (16, ("a", 24))
    moved = Sharing(graph("a", "b", "d"), aligns={"b": 16})
    moved.join("b", "a", 16)
    assert moved.misaligned("a", "d", 8) and not moved.misaligned("a", "d", 16)


def test_what_copies_pad_has_nothing_behind_it() -> None:
    """Values of 20 bytes, of which copies move 24."""
    values = graph("a", "b", "d", length=5)
    tensors = {**values.tensors, "a": replace(values.tensors["a"], shape=(7,))}  # 28 bytes
    sharing = Sharing(replace(values, tensors=tensors), aligns=dict.fromkeys("abd", 8), grain=8)
    assert sharing.misaligned("b", "a")  # 8 bytes of `a` follow it
    assert sharing.add_all((Alias(value="b", of="a", offset=2),))  # it ends where `a` does
    assert not sharing.add_all((Alias(value="d", of="a", offset=0),))


def test_only_what_is_read_later_is_live() -> None:
    sharing = Sharing(graph("a", "b", "y", outputs=("y",)))
    sharing.join("b", "a")
    sharing.join("y", "a")
    assert list(sharing.live("a", {"a": 1, "b": 3}, 2)) == ["b", "y"]
    assert list(sharing.live("a", {"a": 1, "b": 3}, 3)) == ["y"]


def test_a_long_chain_takes_no_longer_for_each_link() -> None:
    names = [f"v{index}" for index in range(2000)]
    sharing = Sharing(graph(*names))

    def grow() -> None:
        for before, after in pairwise(names):
            assert not sharing.pinned_apart(before, after)
            sharing.join(after, before)
            assert not sharing.live("v0", {after: 1}, 1)

    _, calls = counted(grow)
    assert sharing.root(names[-1]) == ("v0", 0)
    assert calls < 40 * len(names)
