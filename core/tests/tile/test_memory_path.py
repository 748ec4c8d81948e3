"""The way from the backing memory to the scratchpad, and where what lives beside it comes in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.ir.machines.platform import Memory, Platform
from tilewright.testing.cluster import cluster, copy_path
from tilewright.tile.memory_path import HopMemories, MemoryPath, hops_of


def nested() -> Platform:
    """l3, where values live, before l2 and l1; flash enters at l1. `side` is beside l3, `off` beside nothing."""
    near = cluster(4096)
    more = (Memory(name="l3", size_bytes=None), Memory(name="side", size_bytes=None), Memory(name="off", size_bytes=99))
    ends = [("l3", "l2"), ("l2", "l3"), ("side", "l2"), ("l2", "side")]
    copies = (*near.copies, *(copy_path(*both) for both in ends))
    return replace(near, memories=(*more, *near.memories), copies=copies, backing="l3")


def test_hops_lead_from_the_backing_memory_to_the_scratchpad() -> None:
    assert hops_of(nested()) == (HopMemories(outer="l3", inner="l2"), HopMemories(outer="l2", inner="l1"))
    assert hops_of(replace(nested(), inner="")) == ()


@pytest.mark.parametrize(("memory", "entry"), [("side", 0), ("flash", 1), ("off", -1)])
def test_what_lives_beside_the_way_enters_over_the_innermost_hop_that_it_can(memory: str, entry: int) -> None:
    assert MemoryPath(nested()).entry(memory) == entry


@pytest.mark.parametrize(
    ("memory", "to_l2", "to_l1"),
    [
        ("l3", "l3", "l2"),  # crosses everything
        ("l2", "", "l2"),  # is on the way
        ("l1", "", ""),  # is there
        ("side", "side", "l2"),  # enters with the first hop
        ("flash", "", "flash"),  # and this with the second
        ("off", "", ""),  # leads nowhere
    ],
)
def test_what_lives_in_a_memory_crosses_from_there_or_from_the_hop_before(memory: str, to_l2: str, to_l1: str) -> None:
    way = MemoryPath(nested())
    for near, source in (("l2", to_l2), ("l1", to_l1)):
        path = way.crossing(memory, near, written=False)
        assert (path.source if path else "") == source
        assert path is None or path.target == near
        assert way.crossing(memory, near, written=False) is path


def test_what_is_written_crosses_the_other_way() -> None:
    path = MemoryPath(nested()).crossing("l3", "l1", written=True)
    assert path is not None
    assert (path.source, path.target) == ("l1", "l2")
    assert MemoryPath(nested()).crossing("flash", "l1", written=True) is None  # nothing is written there
