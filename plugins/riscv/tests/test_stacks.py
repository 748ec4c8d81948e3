"""Stacks of a cluster: how large, where, what they take of the scratchpad."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tilewright.api.platform import Engine, Platform
from tilewright.api.testing import CLUSTER
from tilewright.errors import TilewrightError
from tilewright_riscv.stacks import Stacks

STACKS = Stacks(
    outer="l2",
    each_bytes=1024,
    small_bytes=32 << 10,
    call_cycles=100.0,
    outer_call_cycles=20.0,
    outer_slowdown=1.5,
    outer_read_cycles=60.0,
)


def cluster(l1_bytes: int = 64 << 10, **settings: str) -> Platform:
    (engine,) = CLUSTER.engines
    with_dma_core = replace(CLUSTER, engines=(replace(engine, dma_core=True),))
    chosen = replace(with_dma_core, settings={"stack": "auto", "stacks": "auto", **settings}, settle=STACKS.settled)
    return chosen.resized({"l1": l1_bytes})


@pytest.mark.parametrize(
    ("l1", "settings", "memory", "taken"),
    [
        (64 << 10, {}, "l1", 9 * 1024),
        (16 << 10, {}, "l2", 0),
        (16 << 10, {"stacks": "l1"}, "l1", 9 * 1024),
        (16 << 10, {"stack": "512"}, "l1", 9 * 512),
        (64 << 10, {"stacks": "l2"}, "l2", 0),
    ],
)
def test_where_they_are_and_what_they_take(l1: int, settings: dict[str, str], memory: str, taken: int) -> None:
    platform = cluster(l1, **settings)
    assert STACKS.memory(platform) == memory
    assert platform.runtime_bytes == {"l1": taken}
    (engine,) = platform.engines
    assert (engine.call_cycles, engine.slowdown) == ((100.0, 1.0) if memory == "l1" else (120.0, 1.5))
    assert engine.stack_cycles == (0.0 if memory == "l1" else 60.0)
    near, far = STACKS.inner_section(platform, 0x1000), STACKS.outer_section(platform)
    assert (near == "", far == "") == (memory != "l1", memory == "l1")
    assert f"{l1 + 0x1000 - taken:#x} (NOLOAD)" in near or not near


@pytest.mark.parametrize(
    ("l1", "settings", "places"),
    [
        (64 << 10, {}, []),
        (16 << 10, {}, ["l1", "l2"]),
        (16 << 10, {"stack": "512"}, ["l1", "l2"]),
        (8 << 10, {}, ["l2"]),  # nine of 1,024 B are more
        (16 << 10, {"stacks": "l2"}, []),
    ],
)
def test_where_they_may_be(l1: int, settings: dict[str, str], places: list[str]) -> None:
    """Near first: it is taken where both cost the same."""
    assert [one["stacks"] for one in STACKS.rivals(cluster(l1, **settings))] == places


@pytest.mark.parametrize(("places", "more"), [("l1", 0.0), ("l2", 1.0)])
def test_far_stacks_slow_what_cores_do_for_other_engines(places: str, more: float) -> None:
    platform = cluster(stacks=places)
    engines = (*platform.engines, Engine(name="npu", operations_per_cycle=9, queue=2))
    settled = STACKS.settled(STACKS.settled(replace(platform, engines=engines)))
    assert settled.engines[1].call_cycles == more * STACKS.outer_call_cycles


def test_what_the_runtime_is_told() -> None:
    assert STACKS.macros(cluster(stack="512")) == ("-DTW_CORES=8", "-DTW_TEAM=9", "-DTW_STACK_BYTES=512")


@pytest.mark.parametrize(("backing", "farther"), [("l2", "0"), ("l3", "1")])
def test_copies_to_a_farther_memory_take_more(backing: str, farther: str) -> None:
    stacks = replace(NEEDS, farther_bytes=64)
    platform = replace(cluster(), backing=backing)
    sized = stacks.for_kernels(platform, frozenset({"small"}))
    assert stacks.macros(platform)[-1] == f"-DTW_FARTHER={farther}"
    assert stacks.one_bytes(sized) == 368 + 64 * int(farther)


@pytest.mark.parametrize("size", ["0", "100", "1000", "much"])
def test_a_stack_that_cannot_be(size: str) -> None:
    with pytest.raises(TilewrightError) as refused:
        STACKS.demand(replace(CLUSTER, settings={"stack": size}))
    assert refused.value.code == "TW1102"
    assert refused.value.fix == ("--set stack=1024",)


def test_the_settings() -> None:
    stack, stacks = STACKS.options("l1")
    assert "1024" in stack.help
    assert stacks.choices == ("auto", "l1", "l2")


NEEDS = replace(STACKS, kernel_bytes={"small": 200, "large": 500, "huge": 5000})


@pytest.mark.parametrize(
    ("settings", "kernels", "each"),
    [
        ({}, {"small"}, 368),
        ({}, {"small", "large"}, 672),
        ({}, {"huge"}, 1024),  # never more than stacks have anyway
        ({}, {"small", "unknown"}, 1024),
        ({"stack": "512"}, {"small"}, 512),
        ({"stacks": "l2"}, {"small"}, 1024),
    ],
)
def test_they_are_as_large_as_kernels_need(settings: dict[str, str], kernels: set[str], each: int) -> None:
    sized = NEEDS.for_kernels(cluster(**settings), frozenset(kernels))
    assert NEEDS.one_bytes(sized) == each
    assert sized.runtime_bytes == {"l1": 0 if "stacks" in settings else 9 * each}
    assert NEEDS.memory(sized) == NEEDS.memory(cluster(**settings))


@pytest.mark.parametrize(
    ("settings", "each"), [({}, (368, 672, 1024, 368)), ({"stack": "512"}, (512,) * 4), ({"stacks": "l2"}, (1024,) * 4)]
)
def test_they_follow_kernels_that_are_exchanged(settings: dict[str, str], each: tuple[int, ...]) -> None:
    platform = replace(cluster(**settings), settle_kernels=NEEDS.for_kernels)
    for kernels, size in zip(({"small"}, {"small", "large"}, {"unknown"}, {"small"}), each, strict=True):
        platform = platform.running(kernels)
        assert NEEDS.one_bytes(platform) == size
