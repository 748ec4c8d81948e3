"""Where operands of steps live on a platform, and what buffers take of its memories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import RUNTIME_BYTES, cluster
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

NEAR = 4096  # bytes of scratchpad for tiles


def product(platform: Platform | None = None, **decided: Any) -> ScheduledMachine:
    """8 x 200 floats times constant weights of 200 x 16."""
    inputs = [np.zeros((8, 200), np.float32), np.zeros((200, 16), np.float32)]
    scheduled = one_step("Gemm", inputs, platform or cluster(RUNTIME_BYTES + NEAR), constants=(1,))
    return ScheduledMachine(scheduled, vocabulary(), Decisions(**decided))


def test_a_pin_is_of_all_values_of_a_buffer() -> None:
    """A result that overwrites another is pinned, and so is what it overwrites."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (8, 8))
    for name in "abc":
        value = sketch.node("Clip", (value,), {"min": 0.0}, name)
    pins = Decisions(memories={"b:0": "l1"})
    bound = bind(sketch.finish(value), cluster(), vocabulary(), portable_kernels(), pins)
    plan = schedule(bound, vocabulary(), pins)
    assert len({plan.storage[f"{name}:0"].buffer for name in "abc"}) == 1
    machine = ScheduledMachine(plan, vocabulary(), pins)
    found = {item.value: item.memory for step in plan.steps for item in machine.operands(step)}
    assert found == {"x": "l2", "a:0": "l1", "b:0": "l1", "c:0": "l1"}
    assert check_tiles(tile(plan, vocabulary(), StepTiler(name="cost", summary=""), pins), vocabulary()) == ()


def test_buffers_take_whole_grains() -> None:
    coarse = cluster(NEAR)
    coarse = replace(coarse, copies=tuple(replace(path, align=32) for path in coarse.copies))
    machine = product(coarse)
    (buffer, *_) = machine.scheduled.buffers
    assert (machine.grain("l1"), product().grain("l1")) == (32, 8)
    assert machine.taken_bytes(replace(buffer, size_bytes=33, align=4), "l1") == 64
    assert machine.taken_bytes(replace(buffer, size_bytes=33, align=128), "l1") == 128


def test_code_that_a_step_shortly_before_ran_is_in_the_cache() -> None:
    """Of the same kernel; further away it has left."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (8, 8))
    for name, op in {"a": "Clip", "b": "Clip", "c": "Abs", "d": "Neg", "e": "Clip"}.items():
        value = sketch.node(op, (value,), {"min": 0.0} if op == "Clip" else {}, name)
    plain = cluster()
    engine = replace(plain.engines[0], step_cycles=50.0, kept_steps=2, kept_code_cycles=lambda kernel: 30.0)
    kept = replace(plain, engines=(engine, *plain.engines[1:]))
    bound = bind(sketch.finish(value), kept, vocabulary(), portable_kernels(), Decisions())
    machine = ScheduledMachine(schedule(bound, vocabulary(), Decisions()), vocabulary(), Decisions())
    assert [machine.engine_of(index).step_cycles for index in range(5)] == [50.0, 20.0, 50.0, 50.0, 50.0]
