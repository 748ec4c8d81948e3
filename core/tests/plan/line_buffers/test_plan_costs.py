"""What is said of a plan with steps by rows: its cycles, products that are done again, and why rows end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from row_networks import ONE_MEMORY
from tilewright.allocate.best_fit import BestFit
from tilewright.ir.access.index_map import Access, whole
from tilewright.ir.graphs.graph import Attribute
from tilewright.ir.machines.kernel import Matched
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers import plan_costs as row_costs
from tilewright.plan.line_buffers.plan_costs import line_buffer_notes, times_computed
from tilewright.plan.proposals.planner import Planner, ram_bytes
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import StepTiler

Planned = Callable[..., Allocated]
WIDE = 6  # a network of which columns that are computed again take less


def striped(plan: Allocated) -> bool:
    """Whether any columns are computed in stripes."""
    return any(
        region.line_buffers is not None and region.line_buffers.stripes is not None for region in plan.tiled.regions
    )


def test_ram_takes_less_and_says_what_it_costs(planned: Planned) -> None:
    plan = planned("ram")
    assert ram_bytes(plan) < ram_bytes(planned())
    (note,) = line_buffer_notes(plan, vocabulary())
    assert note.code == "TW5036" and f"{ram_bytes(plan):,} B" in note.message


def test_the_note_says_so_where_rows_take_no_longer(monkeypatch: pytest.MonkeyPatch, planned: Planned) -> None:
    plan = planned("ram")
    monkeypatch.setattr(row_costs, "cycle_ratio", lambda plan: -0.01)
    (note,) = line_buffer_notes(plan, vocabulary())
    assert "no more cycles than layer by layer" in note.message and "-" not in note.message


def test_the_note_says_why_rows_end() -> None:
    """Before a step whose kernel takes everything at once."""
    sketch = Sketch(operators=vocabulary())
    windows: dict[str, Attribute] = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1,) * 4}
    y = sketch.input("x", DType.F32, (1, 2, 16, 16))
    for _ in range(2):
        weights = sketch.constant(np.ones((8, sketch.tensors[y].shape[1], 3, 3), np.float32))
        y = sketch.node("Conv", (y, weights), {**windows, "ceil_mode": 0, "group": 1})
    y = sketch.node("ReduceSum", (y,), {"axes": (2, 3), "keepdims": 0})
    y = sketch.node("Softmax", (y,), {"axis": 1}, name="scores")
    kernels = {
        name: replace(kernel, access=_in_one_piece) if kernel.op == "Softmax" else kernel
        for name, kernel in portable_kernels().items()
    }
    planner = Planner(
        operators=vocabulary(),
        kernels=kernels,
        tiler=StepTiler(name="auto", summary=""),
        allocator=BestFit(),
        optimize="ram",
    )
    plan = Fitting(planner=planner).plan(planner.bind(sketch.finish(y), ONE_MEMORY))
    (note,) = line_buffer_notes(plan, vocabulary())
    assert note.details == ("they end before 'scores': its windows are no index map",)


def _in_one_piece(site: Matched) -> Access:
    return whole({"X": site.input(0).shape}, {"Y": site.output.shape})


@pytest.mark.slow
def test_nothing_is_computed_again_unless_that_is_asked_for(planned: Planned) -> None:
    for optimize in ("speed", "balanced", "ram"):
        plan = planned(optimize, seed=WIDE)
        assert not striped(plan) and times_computed(plan, vocabulary()) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("recompute", [1.1, 1.3, 2.0, 10.0])
def test_columns_are_computed_again_as_often_as_allowed_and_the_note_says_so(
    recompute: float, planned: Planned
) -> None:
    plan = planned("ram", seed=WIDE, recompute=recompute)
    often = times_computed(plan, vocabulary())
    assert often <= recompute
    assert ram_bytes(plan) <= ram_bytes(planned("ram", seed=WIDE))
    (note,) = line_buffer_notes(plan, vocabulary())
    assert (f"{often:.2f} times the multiply-accumulates" in note.message) == striped(plan)
