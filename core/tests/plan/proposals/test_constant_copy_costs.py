"""Which copies of constants pay, from the memories' speeds; what fits beside the plan is copied once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tilewright.allocate.best_fit import BestFit
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.proposals.constant_copy_costs import TRIES, copy_cycles, proposals, savings
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler

FLASH = Memory(name="flash", size_bytes=None, kind="const", bytes_per_cycle=1.0, latency_cycles=20.0)
FAST = Memory(name="fast", size_bytes=4096, bytes_per_cycle=4.0, latency_cycles=5.0)
WEIGHTS = 6 * 10 * 4  # bytes of 6 x 10 floats


def plan(fast: Memory = FAST, rows: int = 8, products: int = 1, **decided: Any) -> Allocated:
    """Products of `rows` x 6 floats with constant weights of 6 x 10, and another of 10 x 6 behind each."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (rows, 6))
    for number in range(products):
        for shape in ((6, 10), (10, 6)):
            weights = np.full(shape, number + shape[0], np.float32)
            value = sketch.node("MatMul", (value, sketch.constant(weights)))
    platform = Platform(name="p", memories=(Memory(name="ram", size_bytes=None), fast, FLASH))
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=WholeTiler(),
        allocator=BestFit(),
        pins=Decisions(**decided),
    )
    return planner.plan(planner.bind(sketch.finish(value), platform))


def test_a_copy_reads_once_and_writes_once() -> None:
    assert copy_cycles(100, FLASH, FAST) == 20 + 5 + 100 / 1 + 100 / 4


def test_reading_a_copy_saves_what_the_faster_memory_saves_for_every_use() -> None:
    """Each weight is read once for each of eight rows."""
    first, second = savings(plan(), vocabulary())
    assert (first.source, first.target, first.steps, first.size_bytes) == ("flash", "fast", (0,), WEIGHTS)
    assert first.read_cycles == pytest.approx(8 * WEIGHTS * (1 - 1 / 4))
    assert first.copy_cycles == copy_cycles(WEIGHTS, FLASH, FAST)
    assert first.use_cycles == first.read_cycles - first.copy_cycles
    assert second.steps == (1,)
    assert replace(first, steps=(0, 1)).use_cycles == first.read_cycles - 2 * first.copy_cycles


@pytest.mark.parametrize(
    "changes",
    [{"size_bytes": None}, {"bytes_per_cycle": 1.0}, {"managed_by": "application"}, {"access": {"cpu": "none"}}],
)
def test_only_faster_memories_with_a_limit_that_can_be_written_are_worth_it(changes: Any) -> None:
    assert list(savings(plan(replace(FAST, **changes)), vocabulary())) == []


def test_what_has_a_copy_already_needs_none() -> None:
    made = plan()
    (one, other) = made.tiled.scheduled.bound.constants
    staged = replace(made, decisions=replace(made.decisions, staged={one: Staging(memory="fast")}))
    assert [saving.constant for saving in savings(staged, vocabulary())] == [other]


def test_what_fits_beside_the_plan_is_copied_once() -> None:
    (only,) = proposals(plan(), vocabulary())
    assert {staging.when for staging in only.values()} == {"init"} and len(only) == 2
    tight = next(proposals(plan(replace(FAST, size_bytes=WEIGHTS + 2 * 16)), vocabulary()))
    assert sorted(staging.when for staging in tight.values()) == ["init", "use"]
    none = list(proposals(plan(replace(FAST, size_bytes=WEIGHTS + 2 * 16 - 1)), vocabulary()))
    assert {staging.when for staging in none[0].values()} == {"use"}


def test_of_the_rest_shorter_and_shorter_lists_are_copied_before_each_use() -> None:
    tried = list(proposals(plan(replace(FAST, size_bytes=64), products=3), vocabulary()))
    assert [len(staged) for staged in tried] == [6, 3, 1]
    assert len(tried) <= TRIES
    assert all(set(later) < set(sooner) for sooner, later in pairwise(tried))


def test_a_copy_before_each_use_has_to_pay() -> None:
    """One row reads each weight once, which a copy does, too."""
    assert list(proposals(plan(replace(FAST, size_bytes=64), rows=1), vocabulary())) == []
