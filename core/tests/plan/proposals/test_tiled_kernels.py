"""Kernels that are slower on whole steps and faster in tiles: here one that takes no scratch, beside one for whose
scratch a small scratchpad has hardly room.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region
from tilewright.plan.proposals.other_kernels import WORTH, worth_trying
from tilewright.plan.proposals.planner import Planner
from tilewright.plan.proposals.shortfall import choice_of
from tilewright.testing.cluster import CLUSTER, registry_for

QUICK, PORTABLE = "test.sigmoid", "portable.sigmoid"


def model() -> bytes:
    """A Sigmoid over 64 x 64 floats."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, 64]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Sigmoid", ["x"], ["y"], "only")], "g", ends[:1], ends[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def deployment(l1_bytes: int, scratch_bytes: int = 64, pins: Decisions | None = None) -> Deployment:
    """With a kernel that takes half the time of the portable one, and scratch on each of eight cores."""
    registry = registry_for(CLUSTER)

    def cycles(tile: object) -> float:
        return float(np.prod([high - low for low, high in tile.box.values()]))  # type: ignore[attr-defined]

    portable = replace(registry.kernels[PORTABLE], cycles=lambda tile: 2 * cycles(tile))
    quick = replace(portable, name=QUICK, target=CLUSTER.name, cycles=cycles, scratch_bytes=lambda _: scratch_bytes)
    registry = replace(registry, kernels={**registry.kernels, PORTABLE: portable, QUICK: quick})
    return Deployment(model(), CLUSTER.name, Options(memory={"l1": l1_bytes}, pins=pins or Decisions()), registry)


def chosen(plan: Deployment) -> str:
    return plan.scheduled.bound.bindings["only"].kernel.name


def cycles(plan: Deployment) -> float:
    return sum(group.cycles for group in plan.tiled.groups)


def test_a_kernel_with_faster_tiles_is_taken() -> None:
    """It was not while any tile of the quick kernel fitted: 256 B of the runtime, 8 x 64 of scratch, little is left."""
    small = deployment(1024)
    quick = deployment(1024, pins=Decisions(kernels={"only": QUICK}))
    assert chosen(small) == PORTABLE
    assert cycles(small) < (1 - WORTH) * cycles(quick)
    assert chosen(deployment(32 << 10)) == QUICK


@pytest.mark.slow
def test_all_steps_are_tiled_again_only_where_a_step_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []
    alone, groups = Planner.cycles_alone, Planner.groups

    def only(planner: Planner, scheduled: Any, decisions: Any, steps: Any) -> Any:
        asked.append(tuple(steps))
        return alone(planner, scheduled, decisions, steps)

    def every(planner: Planner, scheduled: Any, decisions: Any) -> Any:
        asked.append(("every",))
        return groups(planner, scheduled, decisions)

    monkeypatch.setattr(Planner, "cycles_alone", only)
    monkeypatch.setattr(Planner, "groups", every)
    assert chosen(deployment(1024)) == PORTABLE
    assert asked == [("every",), ("only",), ("every",)], "the plan's kernels, the other one, and the whole with it"
    asked.clear()
    assert chosen(deployment(1024, scratch_bytes=0)) == QUICK
    assert ("every",) not in asked[1:]


def test_more_room_is_not_slower() -> None:
    """Over all sizes at which the kernel changes, but for what another kernel must gain to be taken."""
    found = [cycles(deployment(l1_bytes)) for l1_bytes in range(512, 4096, 128)]
    assert all(now <= before / (1 - WORTH) for before, now in pairwise(found))


def test_a_pinned_kernel_stays() -> None:
    assert chosen(deployment(1024, pins=Decisions(kernels={"only": QUICK}))) == QUICK


def test_a_plan_that_is_imported_keeps_its_kernels(tmp_path: object) -> None:
    first = deployment(1024)
    first.export_state(tmp_path, "allocated")  # type: ignore[arg-type]
    again = first.import_state(tmp_path)  # type: ignore[arg-type]
    assert chosen(again) == PORTABLE
    assert again.allocated.decisions.kernels == {"only": PORTABLE}


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (5000.0, {"only": PORTABLE}),  # of which 512 are computation, and would be 1,024
        (1000.0, {}),  # half of it is computation
        (1200.0, {}),  # the other would hardly be faster if it never waited
    ],
)
def test_what_is_worth_trying(times: float, expected: dict[str, str]) -> None:
    plan = deployment(32 << 10)
    choice = choice_of(plan.bound, plan.registry.operators, Decisions())
    assert worth_trying({"only": times}, choice, {}) == expected
    assert worth_trying({"only": times}, choice, {"only": frozenset((PORTABLE,))}) == {}


def test_a_step_with_pinned_tiles_has_no_other_kernel() -> None:
    plan = deployment(32 << 10)
    pins = Decisions(tiles={"only": Region(steps=("only",))})
    assert not worth_trying({"only": 5000.0}, choice_of(plan.bound, plan.registry.operators, pins), {})
