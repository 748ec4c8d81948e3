"""What an allocator is asked: who is placed and where it may be, what is settled without it, and pins that hold."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.allocate.request import (
    BlockArray,
    PlacedArray,
    Request,
    arrangements,
    beside,
    relaxed,
    request,
    taken_bytes,
)
from tilewright.bind import bind
from tilewright.errors import TilewrightError
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.allocation import Pool, Problem
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import CONSTANTS_HEADER_BYTES, Buffer, BufferKind, Tiled
from tilewright.ir.rounding import align_up
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.allocation_problems import block
from tilewright.testing.random_graphs import small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
MEMORIES = (
    Memory(name="near", size_bytes=512),
    Memory(name="far", size_bytes=4096),
    Memory(name="heap", size_bytes=None, managed_by="application"),
    Memory(name="flash", size_bytes=1000, kind="const"),
)


def buffer(
    name: str, kind: BufferKind = "activation", size: int = 8, memories: tuple[str, ...] = ("near", "far"),
    values: tuple[str, ...] = (), align: int = 8,
) -> Buffer:  # fmt: skip
    return Buffer(name=name, kind=kind, size_bytes=size, align=align, first=0, last=0, memories=memories, values=values)


def asked(*buffers: Buffer, pins: Decisions | None = None, offsets: dict[str, int] | None = None) -> Request:
    """Of a plan of one step with these buffers, where the tiler has settled `offsets`."""
    return request(tiled(*buffers, offsets=offsets or {}), pins or Decisions())


def tiled(*buffers: Buffer, offsets: dict[str, int]) -> Tiled:
    sketch = Sketch(operators=WORLD.operators)
    graph = sketch.finish(sketch.node("Clip", [sketch.input("x", DType.F32, (2,))], {"min": 0.0, "max": 6.0}))
    platform = Platform(name="small", memories=MEMORIES, runtime_bytes={"near": 100})
    bound = bind(graph, platform, WORLD.operators, WORLD.kernels, Decisions())
    plan = tile(schedule(bound, WORLD.operators, Decisions()), WORLD.operators, WholeTiler(), Decisions())
    (group,) = plan.groups
    return replace(plan, buffers=buffers, groups=(replace(group, offsets=offsets),))


def test_each_buffer_goes_where_it_belongs() -> None:
    found = asked(
        buffer("ours"),
        buffer("theirs", memories=("heap",)),
        buffer("caller's", memories=()),
        buffer("weights", "constant", memories=("flash",)),
    )
    assert [block.name for block in found.problem.blocks] == ["ours"]
    assert found.problem.blocks[0].pools == ("near", "far")
    assert found.problem.blocks[0].lifetimes == ((0, 0),)
    assert [block.name for block in found.constants.blocks] == ["weights"]
    assert found.application == {"theirs": "heap"}
    assert found.regions == ()


def test_pools_are_what_is_left_of_memories_and_blobs_begin_with_a_header() -> None:
    found = asked()
    assert [(pool.name, pool.capacity_bytes, pool.reserved) for pool in found.problem.pools] == [
        ("near", 412, ()), ("far", 4096, ()),
    ]  # fmt: skip
    assert [(pool.name, pool.capacity_bytes) for pool in found.constants.pools] == [("flash", 1000)]
    assert found.constants.pools[0].reserved == ((0, CONSTANTS_HEADER_BYTES),)


def test_only_memories_of_the_first_one_s_kind_are_candidates() -> None:
    (block,) = asked(buffer("mixed", memories=("far", "heap", "near", "flash"))).problem.blocks
    assert block.pools == ("far", "near")


def test_the_constant_that_would_leave_the_largest_gap_is_last() -> None:
    sizes = {"a": 16, "b": 9, "c": 15, "d": 8}
    found = asked(*(buffer(name, "constant", size, ("flash",)) for name, size in sizes.items()))
    assert [block.name for block in found.constants.blocks] == ["a", "c", "d", "b"]


def test_a_pinned_offset_overrules_the_tiler_s() -> None:
    buffers = (buffer("a"), buffer("b"))
    found = asked(*buffers, offsets={"a": 64, "b": 72}, pins=Decisions(offsets={"b": 0}))
    assert {block.name: block.fixed_offset for block in found.problem.blocks} == {"a": 64, "b": 0}


def test_a_pin_of_a_value_is_one_of_its_buffer() -> None:
    (block,) = asked(buffer("a", values=("x", "y")), pins=Decisions(memories={"y": "far"})).problem.blocks
    assert block.pools == ("far",)
    (same,) = asked(buffer("a", values=("x", "y")), pins=Decisions(memories={"x": "far", "y": "far"})).problem.blocks
    assert same.pools == ("far",)


def test_what_the_caller_keeps_is_pinned_nowhere() -> None:
    assert asked(buffer("a", memories=()), pins=Decisions(memories={"a": "near"})).problem.blocks == ()


@pytest.mark.parametrize(
    ("pins", "code", "words"),
    [
        (Decisions(memories={"x": "far", "y": "near"}), "TW5002", "pinned to different memories: far, near"),
        (Decisions(memories={"x": "moon"}), "TW5002", "no memory of target 'small'"),
        (Decisions(memories={"a": "flash"}), "TW5002", "only in near, far"),
        (Decisions(offsets={"ghost": 8, "a": 0}), "TW5003", "'ghost'"),
    ],
)
def test_pins_that_cannot_hold(pins: Decisions, code: str, words: str) -> None:
    with pytest.raises(TilewrightError, match=words) as caught:
        asked(buffer("a", values=("x", "y")), pins=pins)
    assert caught.value.code == code


def test_what_lasts_is_one_region_of_state_and_one_of_copies_for_each_memory() -> None:
    found = asked(
        buffer("h", "state", memories=("near", "far")),
        buffer("k", "resident", memories=("near",)),
        buffer("c", "state", memories=("far",)),
        buffer("w", "resident", memories=("far",)),
        buffer("v", "resident", memories=("near",)),
    )
    assert found.problem.blocks == found.constants.blocks == ()
    shown = [(one.kind, one.memories, [block.name for block in one.blocks]) for one in found.regions]
    assert shown == [
        ("state", ("far",), ["h", "c"]), ("resident", ("far",), ["w"]), ("resident", ("near",), ["k", "v"]),
    ]  # fmt: skip


def test_state_in_two_memories_is_refused() -> None:
    with pytest.raises(TilewrightError, match="one region, in one memory") as caught:
        asked(buffer("h", "state", memories=("near",)), buffer("c", "state", memories=("far",)))
    assert caught.value.code == "TW5002"
    assert caught.value.details == ("'h' may be in near", "'c' may be in far")


def test_a_limit_is_lifted_from_the_named_pools_alone() -> None:
    problem = asked().problem
    assert [pool.capacity_bytes for pool in relaxed(problem, ("near",)).pools] == [None, 4096]
    assert relaxed(problem, ()) == problem


FAST, SLOW = Memory(name="fast", size_bytes=64, align=16), Memory(name="slow", size_bytes=None, align=16)
TWO = Platform(name="two", memories=(FAST, SLOW))
STATE = BlockArray(
    kind="state",
    memories=("fast", "slow"),
    blocks=(block("small", 1, 0, 0, align=1), block("large", 8, 0, 0, align=8), block("middle", 2, 0, 0, align=2)),
)


def test_larger_alignments_come_first_so_that_nothing_is_wasted() -> None:
    first, second = ((laid,) for (laid,) in arrangements([STATE], TWO))
    assert (first[0].memory, second[0].memory) == ("fast", "slow")
    assert first[0].size_bytes == 11
    assert {name: place.offset_bytes for name, place in first[0].places.items()} == {
        "large": 0,
        "middle": 8,
        "small": 10,
    }


def test_every_choice_of_memories_comes_once_the_best_first() -> None:
    copies = BlockArray(kind="resident", memories=("slow", "fast"), blocks=(block("w", 4, 0, 0),))
    found = [tuple(one.memory for one in laid) for laid in arrangements([STATE, copies], TWO)]
    assert found == [("fast", "slow"), ("fast", "fast"), ("slow", "slow"), ("slow", "fast")]
    empty = replace(copies, blocks=())
    assert [len(laid) for laid in arrangements([empty], TWO)] == [0, 0]


def test_pools_have_what_is_left() -> None:
    laid = (
        PlacedArray(kind="state", memory="fast", size_bytes=11, places={}),
        PlacedArray(kind="resident", memory="fast", size_bytes=16, places={}),
    )
    assert taken_bytes(laid, FAST) == 16 + 11
    problem = Problem(blocks=(), pools=(Pool(name="fast", capacity_bytes=40), Pool(name="slow", capacity_bytes=None)))
    assert [pool.capacity_bytes for pool in beside(problem, laid, TWO).pools] == [8, None]
    short = replace(problem, pools=(Pool(name="fast", capacity_bytes=20),))
    assert [pool.capacity_bytes for pool in beside(short, laid, TWO).pools] == [0]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(0, 200))
def test_a_pool_has_all_that_fits_beside_the_regions(sizes: list[int], limit: int) -> None:
    """One byte more than that, and no order of the arrays is within the limit."""
    laid = tuple(PlacedArray(kind="state", memory="fast", size_bytes=size, places={}) for size in sizes)
    problem = Problem(blocks=(), pools=(Pool(name="fast", capacity_bytes=limit),))
    (pool,) = beside(problem, laid, TWO).pools
    left = pool.capacity_bytes
    assert left is not None

    def fits(pool_bytes: int) -> bool:
        orders = permutations([*sizes, pool_bytes])
        return min(sum(align_up(size, 16) for size in before) + last for *before, last in orders) <= limit

    assert (left == 0 or fits(left)) and not fits(left + 1)
    assert not left or taken_bytes(laid, FAST, left) <= limit < taken_bytes(laid, FAST, left + 1)
