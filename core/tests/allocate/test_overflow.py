"""Why a plan does not fit, in words: where most is alive, the largest first, what is too large anywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.allocate.overflow import MIGHT_FIT, does_not_fit, overflow_of
from tilewright.bind import bind
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Buffer, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
BOTH = ("near", "far")


def tiled(near: int | None = 64, far: int | None = 100, soft: bool = False) -> Tiled:
    """Three steps on a machine with two memories."""
    sketch = Sketch(operators=WORLD.operators)
    value = sketch.input("x", DType.F32, (6,))
    for name in ("first", "second", "third"):
        value = sketch.node("Clip", [value], {"min": 0.0, "max": 6.0}, name)
    memories = (Memory(name="near", size_bytes=near), Memory(name="far", size_bytes=far, soft=soft))
    platform = Platform(name="small", memories=memories)
    bound = bind(sketch.finish(value), platform, WORLD.operators, WORLD.kernels, Decisions())
    return tile(schedule(bound, WORLD.operators, Decisions()), WORLD.operators, WholeTiler(), Decisions())


def buffer(name: str, size: int, first: int, last: int, memories: tuple[str, ...] = BOTH) -> Buffer:
    return Buffer(
        name=name, kind="activation", size_bytes=size, align=4, first=first, last=last, memories=memories
    )  # fmt: skip


def details(plan: Tiled, *buffers: Buffer, bound: int = 70, pinned: tuple[str, ...] = ()) -> tuple[str, ...]:
    plan = replace(plan, buffers=buffers)
    return does_not_fit(plan, overflow_of(plan, "near", buffers, 80, 64, bound, pinned)).details


def test_the_step_is_the_first_where_most_bytes_are_alive() -> None:
    buffers = (buffer("a", 8, 0, 1), buffer("b", 30, 1, 2), buffer("c", 8, 2, 2), buffer("d", 9, 1, 1))
    found = overflow_of(tiled(), "near", buffers, 80, 64, 47)
    assert (found.step, found.excess_bytes) == (1, 16)
    assert [one.name for one in found.live] == ["b", "d", "a"]
    even = overflow_of(tiled(), "near", buffers[:3], 80, 64, 38)
    assert (even.step, [one.name for one in even.live]) == (1, ["b", "a"])


def test_constants_are_alive_at_no_step() -> None:
    constants = tuple(replace(buffer(name, size, 0, 2), kind="constant") for name, size in (("a", 8), ("b", 9)))
    found = overflow_of(tiled(), "near", constants, 17, 10, 17)
    assert (found.step, [one.name for one in found.live]) == (-1, ["b", "a"])
    assert does_not_fit(replace(tiled(), buffers=constants), found).where == "constants"


def test_beyond_eight_buffers_are_counted() -> None:
    lines = details(tiled(), *(buffer(f"b{size}", size, 0, 0) for size in range(1, 12)))
    assert lines[0].startswith("activation b11  11 B") and lines[7].startswith("activation b4  4 B")
    assert lines[8] == "and 3 more, 6 B together"
    assert not any("more" in line for line in details(tiled(), *(buffer(f"b{n}", 9, 0, 0) for n in range(8))))


@pytest.mark.parametrize(
    ("size", "near", "far", "soft", "said"),
    [
        (101, 64, 100, False, True),
        (100, 64, 100, False, False),  # it would fit into the other one
        (101, 64, None, False, False),
        (101, 64, 100, True, False),  # which may be exceeded
    ],
)
def test_what_no_memory_is_large_enough_for_is_said(
    size: int, near: int, far: int | None, soft: bool, said: bool
) -> None:
    lines = details(tiled(near, far, soft), buffer("a", size, 0, 0))
    assert ("'a' alone is larger than near, far" in lines) == said


def test_a_pinned_buffer_may_only_be_where_it_is() -> None:
    lines = details(tiled(), buffer("a", 70, 0, 0), buffer("b", 2, 0, 0), pinned=("a",))
    assert lines[0] == "activation a  70 B  (live 0..0, pinned)"
    assert "'a' alone is larger than near" in lines
    assert "tried in this order: near (64 B), far (100 B)" in lines
    assert not any("tried" in line for line in details(tiled(), buffer("a", 70, 0, 0), pinned=("a",)))


def test_a_better_placement_is_only_hoped_for_below_the_bound() -> None:
    small = buffer("a", 8, 0, 0)
    assert f"{MIGHT_FIT}: these buffers need at least 64 B" in details(tiled(), small, bound=64)
    assert not any(MIGHT_FIT in line for line in details(tiled(), small, bound=65))
    assert not any(MIGHT_FIT in line for line in details(tiled(), buffer("a", 101, 0, 0), bound=64))
