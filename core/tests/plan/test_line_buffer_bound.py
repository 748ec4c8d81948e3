"""What is said to help nothing helps nothing: no candidate takes less than the bound, and the plan stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.line_buffer_bound import LEAST_SAVED, can_never_fit, least_bytes, line_buffers_may_help
from tilewright.plan.line_buffers.candidates import overlaid_candidates
from tilewright.plan.line_buffers.choice import with_line_buffers
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.plan.suggestions import with_memories
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler

Planned = Callable[..., Allocated]


def convolution(planner: Planner, channels: int, rows: int, columns: int, taps: int = 3) -> Allocated:
    """A plan of one convolution layer by layer; images are stored channel by channel."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, channels, rows, columns))
    weights = sketch.constant(np.ones((channels, channels, taps, taps), np.float32))
    attributes: dict[str, Attribute] = {
        "kernel_shape": (taps, taps),
        "strides": (1, 1),
        "dilations": (1, 1),
        "group": 1,
        "pads": (taps // 2,) * 4,
    }
    plan = planner.best(planner.bind(sketch.finish(sketch.node("Conv", (x, weights), attributes)), ONE_MEMORY))
    assert isinstance(plan, Allocated)
    return plan


@pytest.mark.parametrize(
    ("channels", "rows", "columns", "may_help"),
    [(1, 32, 128, True), (4, 16, 16, False), (2, 64, 16, True), (8, 4, 64, False)],
)
def test_a_step_alone_is_asked_about_where_its_output_may_lie_a_row_before_its_input(
    channels: int, rows: int, columns: int, may_help: bool, fastest: Planner
) -> None:
    plan = convolution(fastest, channels, rows, columns)
    assert line_buffers_may_help(fastest, plan) == may_help
    found = overlaid_candidates(fastest, plan.tiled.scheduled, inf, ram_bytes(plan) - LEAST_SAVED)
    assert may_help or found == ()


@pytest.mark.parametrize("seed", range(6))
def test_no_candidate_takes_less_than_the_bound(seed: int, fastest: Planner, planned: Planned) -> None:
    plan = planned(seed=seed)
    least = least_bytes(plan.tiled.scheduled, fastest.operators, fastest.pins)
    sizes = [one.size_bytes for one in overlaid_candidates(fastest, plan.tiled.scheduled, inf, 1 << 30)]
    assert 0 < least <= min([ram_bytes(plan), *sizes])


@pytest.mark.parametrize("seed", range(6))
def test_what_may_not_help_leaves_the_plan_as_it_is(seed: int, fastest: Planner, planned: Planned) -> None:
    plan = planned(seed=seed)
    asked = [fastest, replace(fastest, tiler=WholeTiler()), replace(fastest, choose_constant_copies=True)]
    unhelped = [planner for planner in asked if not line_buffers_may_help(planner, plan)]
    assert len(unhelped) > 1
    assert all(with_line_buffers(planner, plan) is plan for planner in unhelped)


def test_less_memory_is_always_looked_for_where_it_is_asked_for(fastest: Planner, planned: Planned) -> None:
    assert line_buffers_may_help(replace(fastest, optimize="ram"), planned())
    assert line_buffers_may_help(fastest, planned("ram")), "regions that are there may have faster kernels"


def test_the_callers_memory_counts_for_nothing(fastest: Planner) -> None:
    scheduled = convolution(fastest, 4, 16, 16).tiled.scheduled
    (value,) = scheduled.bound.graph.inputs
    outside = Decisions(io={value: "user"})
    assert least_bytes(scheduled, fastest.operators, outside) == 4 * 16 * 16 * 4


@pytest.mark.parametrize(("limit", "io", "never"), [(4095, "pool", True), (4096, "pool", False), (2048, "user", False)])
def test_nothing_fits_where_all_inputs_do_not(limit: int, io: IoOwner, never: bool) -> None:
    s = Sketch(operators=vocabulary())
    sides = [s.input(name, DType.F32, (512,)) for name in "xy"]
    graph = s.finish(s.node("Add", sides, name="sum"))
    planner = portable_planner(pins=Decisions(io=dict.fromkeys("xy", io)))
    bound = with_memories(planner.bind(graph, ONE_MEMORY), {"ram": limit})
    assert can_never_fit(bound, planner.pins) is never
