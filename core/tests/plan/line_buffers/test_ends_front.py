"""Points of the front for which the application does something: none that another beats, each says what it asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from portable_plans import portable_planner
from row_networks import ONE_MEMORY
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.line_buffers.ends_front import Owners, ends_front
from tilewright.plan.proposals.planner import Optimize, Planner, ram_bytes
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


def planned(planner: Planner) -> Allocated:
    """A product of a large input with a matrix: a small output."""
    s = Sketch(operators=vocabulary())
    x = s.input("x", DType.F32, (64, 64))
    weights = s.constant(np.ones((64, 1), np.float32))
    graph = s.finish(s.node("MatMul", (x, weights), name="small"))
    plan = planner.best(planner.bind(graph, ONE_MEMORY))
    assert isinstance(plan, Allocated)
    return plan


CHOSEN = planned(portable_planner(pins=Decisions(io={"x": "pool", "small:0": "pool"})))


def smaller(size_bytes: int) -> Allocated:
    """The chosen plan, as if it took so many bytes."""
    pools = (replace(pool, used_bytes=size_bytes) if pool.kind == "ram" else pool for pool in CHOSEN.pools)
    return replace(CHOSEN, pools=tuple(pools))


def test_each_says_what_it_asks_and_what_to_type() -> None:
    sizes = {("push", "speed"): 8000, ("push", "ram"): 512, ("user", "speed"): 64, ("user", "ram"): 64}

    def plan_with(owners: Owners, optimize: Optimize) -> Allocated:
        return smaller(sizes[owners["x"], optimize])

    points = ends_front(CHOSEN, "speed", plan_with)
    assert [(one.ram_bytes, one.flags) for one in points] == [
        (8000, "--io x=push"),
        (512, "--io x=push --optimize ram"),
        (64, "--io x=user --io small:0=user"),
    ], "the output is too small to be worth rows"
    assert points[0].asks == "your application hands over rows of x as they are asked for"
    assert points[2].asks == "your application keeps x (16,384 B) and small:0 (256 B)"
    assert [one.flags for one in ends_front(CHOSEN, "ram", plan_with)][:2] == [
        "--io x=push --optimize speed",
        "--io x=push",
    ], "what is typed already is not typed again"


def test_what_takes_no_less_than_the_plan_is_no_point() -> None:
    assert ends_front(CHOSEN, "speed", lambda owners, optimize: CHOSEN) == ()
    assert ends_front(CHOSEN, "speed", lambda owners, optimize: None) == ()
    more = smaller(ram_bytes(CHOSEN) + 64)
    assert ends_front(CHOSEN, "speed", lambda owners, optimize: more) == ()


def test_what_is_elsewhere_already_stays_there() -> None:
    asked = list[Owners]()
    theirs = planned(portable_planner(pins=Decisions(io={"x": "user", "small:0": "pool"})))
    assert ends_front(theirs, "speed", lambda owners, optimize: asked.append(owners)) == ()
    assert asked == [{"small:0": "pull"}, {"small:0": "user"}]
