"""What a plan takes of each memory: all its arrays together, against limits, the machine, and where buffers belong."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.allocate.limits import (
    beyond_machine_warnings,
    exceeded_bytes,
    memory_bytes,
    soft_limit_warnings,
)
from tilewright.bind import bind
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.random_graphs import random_graph, small_world
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile

WORLD = small_world()
NEAR, FAR = Memory(name="near", size_bytes=64), Memory(name="far", size_bytes=None)


def plan(*memories: Memory, seed: int | None = None, pins: Mapping[str, str] | None = None) -> Allocated:
    """Of a random graph, or of two Clips that turn 24 B into 24 B."""
    sketch = Sketch(operators=WORLD.operators)
    limits = {"min": 0.0, "max": 6.0}
    inner = sketch.node("Clip", [sketch.input("x", DType.F32, (6,))], limits, "first")
    graph = sketch.finish(sketch.node("Clip", [inner], limits, "second"))
    if seed is not None:
        graph = random_graph(random.Random(seed), WORLD.operators)
    decisions = Decisions(memories=pins or {})
    bound = bind(graph, Platform(name="small", memories=memories), WORLD.operators, WORLD.kernels, decisions)
    tiled = tile(schedule(bound, WORLD.operators, decisions), WORLD.operators, WholeTiler(), decisions)
    return allocate(tiled, decisions, BestFit())


def with_arrays(*sizes: int, align: int = 16, size: int | None = 64, soft: bool = False) -> Allocated:
    """A plan whose one memory holds arrays of these sizes."""
    found = plan(Memory(name="near", size_bytes=None, align=align))
    platform = Platform(name="small", memories=(Memory(name="near", size_bytes=size, align=align, soft=soft),))
    scheduled = found.tiled.scheduled
    tiled = replace(found.tiled, scheduled=replace(scheduled, bound=replace(scheduled.bound, platform=platform)))
    return replace(found, tiled=tiled, pools=tuple(replace(found.pools[0], used_bytes=one) for one in sizes))


@pytest.mark.parametrize(
    ("sizes", "used"),
    [((24,), 24), ((24, 16), 40), ((16, 24), 40), ((20, 20), 52), ((0, 24), 24), ((), 0), ((17, 15, 16), 49)],
)
def test_every_array_but_one_ends_where_the_next_may_begin(sizes: tuple[int, ...], used: int) -> None:
    """The one that would leave the most behind it is the last."""
    assert memory_bytes(with_arrays(*sizes), "near") == used


def test_what_is_over_the_limit_is_counted_and_a_warning_only_where_it_is_soft() -> None:
    assert exceeded_bytes(with_arrays(64), "near") == 0
    assert exceeded_bytes(with_arrays(65), "near") == 1
    assert exceeded_bytes(with_arrays(65, size=None), "near") == 0
    assert soft_limit_warnings(with_arrays(65)) == soft_limit_warnings(with_arrays(64, soft=True)) == ()
    (warning,) = soft_limit_warnings(with_arrays(65, soft=True))
    assert "needs 65 B, its limit is 64 B (1 B more)" in warning.message


def test_a_limit_beyond_the_machine_is_a_warning() -> None:
    def codes(size: int | None, machine: int | None) -> list[str]:
        memory = Memory(name="near", size_bytes=size, machine_bytes=machine)
        return [one.code for one in beyond_machine_warnings(Platform(name="small", memories=(memory,)))]

    assert codes(65, 64) == ["TW5034"]
    assert codes(64, 64) == codes(65, None) == codes(None, 64) == []
