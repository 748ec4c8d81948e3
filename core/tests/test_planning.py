"""What the user asks for reaches the planner; what does not fit is raised where it was found, with settings to try."""

from __future__ import annotations

import traceback
from dataclasses import replace

import pytest
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import Allocated, Bound
from tilewright.plan.proposals.work import Work
from tilewright.testing.cluster import CLUSTER, registry_for


def deployment(options: Options | None = None) -> Deployment:
    """Of a Sigmoid over 64 x 64 floats, on a cluster."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"], "node")], "g", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, options, registry_for(CLUSTER))


def test_the_planner_has_what_was_asked_for() -> None:
    planner = deployment(Options(optimize="ram", effort=7, seed=3, groups=2)).planning.planner
    assert (planner.optimize, planner.longest) == ("ram", 2)
    assert (planner.budget.work, planner.budget.seed) == (7, 3)


def test_a_stage_that_is_saved_is_not_made_again() -> None:
    first = deployment()
    planning = replace(first.planning, saved={Bound: first.bound})
    assert planning.bound is first.bound
    plan = planning.plan(first.planned_with)
    assert isinstance(plan, Allocated) and plan.tiled.scheduled.bound.bindings is first.bound.bindings


def test_a_plan_that_cannot_be_fast_enough_is_not_made() -> None:
    assert deployment().planned_with({}, 0.0) == ()
    assert isinstance(deployment().planned_with({}, None), Allocated)


def test_whether_anything_fits_is_asked_layer_by_layer() -> None:
    first = deployment()
    plan = first.planned_with({}, None, Work())
    assert isinstance(plan, Allocated)
    assert all(len(region.steps) == 1 for region in plan.tiled.regions)


def test_an_error_is_raised_where_nothing_fits() -> None:
    with pytest.raises(TilewrightError) as caught:
        deployment(Options(memory={"l1": 64})).allocated  # noqa: B018  # a property that plans
    files = [frame.filename.rpartition("tilewright/")[2] for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert files[-1] not in ("deployment.py", "planning.py"), "who asks for a plan does not know what was short"
