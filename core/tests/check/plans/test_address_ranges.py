"""Where bytes are: ranges overlap where they share a byte of one array, and in no other case."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.check.plans import address_ranges
from tilewright.ir.plans.stages import Buffer, Placement

RANGES = st.tuples(st.sampled_from("ab"), st.integers(0, 6), st.integers(0, 4))
PLACE = Placement(memory="ram", offset_bytes=8)


@given(RANGES, RANGES)
def test_overlapping_is_sharing_a_byte(one: tuple[str, int, int], other: tuple[str, int, int]) -> None:
    kind = next(value for value in vars(address_ranges).values() if isinstance(value, type) and "low" in dir(value))
    here, there = (kind(region=name, low=low, high=low + size) for name, low, size in (one, other))
    shared = set(range(here.low, here.high)) & set(range(there.low, there.high))
    assert here.overlaps(there) == there.overlaps(here)
    if here.low < here.high and there.low < there.high:
        assert here.overlaps(there) == (bool(shared) and here.region == there.region)


def test_what_lasts_is_apart_from_the_pool() -> None:
    kinds = ("activation", "tile", "constant", "state", "resident")
    buffers = (Buffer(name=kind, kind=kind, size_bytes=1, align=1, first=0, last=0) for kind in kinds)
    found = [address_ranges.region(buffer, PLACE) for buffer in buffers]
    assert found == ["memory ram", "memory ram", "memory ram", "the state", "copies in ram"]


def test_who_is_alive_at_a_step() -> None:
    lives = {"a": ("tile", 0, 1), "b": ("scratch", 1, 1), "c": ("constant", 0, 9), "d": ("tile", 1, 3)}
    buffers = [
        Buffer(name=name, kind=kind, size_bytes=1, align=1, first=first, last=last)
        for name, (kind, first, last) in lives.items()
    ]
    found = address_ranges.alive(buffers, "tile", "scratch")
    names = {step: "".join(buffer.name for buffer in alive) for step, alive in found.items()}
    assert names == {0: "a", 1: "abd", 2: "d", 3: "d"}
