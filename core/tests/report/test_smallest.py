"""What a check says of the plan in the least memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tilewright.allocate.best_fit import BestFit
from tilewright.ir.stages import Allocated
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.planner import Optimize, Planner, ram_bytes
from tilewright.report.smallest import less_memory
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.row_networks import ONE_MEMORY, row_network
from tilewright.tile.strategies import StepTiler

SEED = 0  # of a network that takes much less by rows


def planned(optimize: Optimize) -> Allocated:
    """The network on one memory."""
    planner = Planner(
        operators=vocabulary(),
        kernels=portable_kernels(),
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        optimize=optimize,
    )
    return Fitting(planner=planner).plan(planner.bind(row_network(SEED, vocabulary()).graph, ONE_MEMORY))


def deployment(optimize: Optimize) -> Any:
    """What the line is made of."""
    options = SimpleNamespace(optimize=optimize)
    return SimpleNamespace(options=options, allocated=planned(optimize), smallest=planned("ram"))


def test_both_plans_are_told_where_rows_take_much_less() -> None:
    (line,) = less_memory(deployment("speed"))
    assert f"{ram_bytes(planned('ram')):,} B at +" in line and line.endswith("with --optimize ram")


def test_nothing_is_said_where_rows_are_asked_for() -> None:
    assert list(less_memory(deployment("ram"))) == []


def test_nothing_is_said_where_little_is_gained() -> None:
    same = deployment("speed")
    same.smallest = same.allocated
    assert list(less_memory(same)) == []
