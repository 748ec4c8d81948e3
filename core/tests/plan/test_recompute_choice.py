"""When cheap values are computed again: where the plan becomes smaller, or fits, and never where that is forbidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from portable_plans import portable_planner
from reference_runs import demand_reference
from row_networks import ONE_MEMORY
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions, IoOwner, Recomputation
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.line_buffers.plan_costs import plan_cycles
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.plan.recompute_choice import recomputation_notes
from tilewright.plan.suggestions import with_memories
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

SIDE = 96
THEIRS: dict[str, IoOwner] = {"x": "user", "square1:0": "user"}
MASK_AGAIN = Recomputation(value="mask:0", readers=("masked1",))


def two_blocks() -> Graph:
    """A row of numbers, spread over a mask; two blocks add it to what passes, and multiply that by itself, which needs
    all rows.
    """
    s = Sketch(operators=vocabulary())
    few, value = s.input("few", DType.F32, (SIDE,)), s.input("x", DType.F32, (SIDE, SIDE))
    mask = s.node("Add", (s.constant(np.zeros((SIDE, SIDE), np.float32)), few), name="mask")
    for block in range(2):
        value = s.node("Add", (value, mask), name=f"masked{block}")
        value = s.node("MatMul", (value, value), name=f"square{block}")
    return s.finish(value)


def planned(optimize: Optimize = "speed", limit: int | None = None, *, again: bool = True, **pins: object) -> Allocated:
    planner = portable_planner(optimize=optimize, pins=Decisions(io=THEIRS, **pins))  # type: ignore[arg-type]
    bound = planner.bind(two_blocks(), ONE_MEMORY)
    bound = with_memories(bound, {"ram": limit}) if limit else bound
    return Fitting(planner=planner, recompute=again).plan(bound)


def test_by_default_where_it_saves_a_kibibyte_for_a_hundredth_of_the_cycles() -> None:
    kept, plan = planned(again=False), planned()
    assert plan.decisions.recomputed == (MASK_AGAIN,)
    assert ram_bytes(kept) - ram_bytes(plan) >= 1024
    assert plan_cycles(kept) < plan_cycles(plan) <= 1.01 * plan_cycles(kept)
    assert plan.order_bound_bytes is not None and plan.order_bound_bytes <= ram_bytes(plan)


def test_the_note_says_what_and_before_which_steps() -> None:
    (note,) = recomputation_notes(planned())
    assert note.code == "TW5037" and "1 value is computed again" in note.message
    assert note.details == ("'mask:0' before 'masked1'",)
    copies = (
        MASK_AGAIN,
        Recomputation(value="mask:0:again", readers=("masked2", "masked3")),
        Recomputation(value="no"),
    )
    plan = planned(again=False)
    (note,) = recomputation_notes(replace(plan, decisions=replace(plan.decisions, recomputed=copies)))
    assert note.details == ("'mask:0' before 'masked1' and 'masked2'",)
    assert not [*recomputation_notes(plan)]


@pytest.mark.slow
def test_the_steps_compute_what_they_should(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    feeds = {"few": draw.integers(-1, 2, SIDE), "x": draw.integers(-1, 2, (SIDE, SIDE))}  # sums are exact
    demand_reference(planned(), {name: array.astype(np.float32) for name, array in feeds.items()}, tmp_path)


def test_where_nothing_else_fits() -> None:
    least = ram_bytes(planned("ram"))
    plan = planned(limit=least)
    assert ram_bytes(plan) <= least and plan.decisions.recomputed


@pytest.mark.parametrize("optimize", ["speed", "balanced", "ram"])
def test_decisions_of_the_plan_give_it_again(optimize: Optimize) -> None:
    plan = planned(optimize)
    pinned = portable_planner(optimize=optimize, pins=plan.decisions)
    again = Fitting(planner=pinned).plan(pinned.bind(two_blocks(), ONE_MEMORY))
    assert plan.decisions.recomputed and again.decisions == plan.decisions
    assert again.placements == plan.placements


def test_never_where_it_is_forbidden_or_an_order_is_pinned() -> None:
    kept = planned(again=False)
    forbidden = planned(recomputed=(Recomputation(value="mask:0"),))
    ordered = planned(order=kept.decisions.order)
    assert ram_bytes(forbidden) == ram_bytes(ordered) == ram_bytes(kept)


SEARCHED = """
    c1=conv3(x) c7=conv3(c1) c2=conv3(c1) c4=conv1(c2) c26=conv1(c2) pool=pool(c2) c3=conv1(c2) c18=conv1(c2)
    a5=add(c3,c4) c27=conv3(c2) c6=conv3(a5) a8=add(c6,c7) p13=pool(a5) a19=add(pool,c18) c9=conv3(a5) c20=conv1(a19)
    a11=add(c9,pool) c12=conv3(a8) a14=add(c12,p13) a28=add(c26,c27) k15=concat(a11,a14) c16=conv1(k15) c23=conv1(c16)
    c21=conv3(c16) a22=add(c20,c21) c24=conv3(a22) a25=add(c23,c24) k29=concat(a25,a28) c30=conv1(k29)
"""


def test_a_value_of_two_equal_steps_waits_for_neither_reader_of_the_other() -> None:
    """A searched network in which two equal pools were made one, in an order that shows nothing of it: 12,288 B."""
    s = Sketch(operators=vocabulary())
    value = {"x": s.input("x", DType.F32, (1, 8, 8, 8))}
    steps = {"strides": (1, 1), "dilations": (1, 1)}
    window = {**steps, "kernel_shape": (3, 3), "pads": (1, 1, 1, 1)}
    point = {**steps, "kernel_shape": (1, 1), "pads": (0, 0, 0, 0)}
    for written in SEARCHED.split():
        name, _, call = written.partition("=")
        kind, _, read = call.rstrip(")").partition("(")
        inputs = [value[one] for one in read.split(",")]
        channels = s.tensors[inputs[0]].shape[1]
        if kind.startswith("conv"):
            side = int(kind[-1])
            inputs.append(s.constant(np.ones((8, channels, side, side), np.float32)))
            value[name] = s.node("Conv", inputs, window if side == 3 else point, name=name)
        elif kind == "pool":
            value[name] = s.node("MaxPool", inputs, window, name=name)
        else:
            value[name] = s.node(kind.title(), inputs, {"axis": 1} if kind == "concat" else {}, name=name)
    graph = s.finish(s.node("ReduceMean", (value["c30"],), {"axes": (2, 3), "keepdims": 1}, name="mean"))
    planner = portable_planner()
    bound = planner.bind(graph, ONE_MEMORY)
    kept, plan = (Fitting(planner=planner, recompute=again).plan(bound) for again in (False, True))
    assert (ram_bytes(kept), ram_bytes(plan)) == (12_288, 10_240)
    assert [one.value for one in plan.decisions.recomputed] == ["pool:0"]
    assert plan.order_bound_bytes == 10_240
