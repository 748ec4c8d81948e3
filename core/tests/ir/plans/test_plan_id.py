"""The plan id changes with everything that a blob of constants depends on, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.plan_id import plan_id
from tilewright.ir.plans.stages import Placement, Tiled


def changed(tiled: Tiled, array: Any) -> Tiled:
    """With another constant."""
    bound = replace(tiled.scheduled.bound, constants={"/bias.B": array})
    return replace(tiled, scheduled=replace(tiled.scheduled, bound=bound))


def test_it_is_the_same_for_the_same_constants_in_the_same_places(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    one = plan_id(plan.tiled, plan.placements)
    assert one == plan_id(plan.tiled, plan.placements)
    assert 0 < one < 1 << 32
    moved = {**plan.placements, "turned": Placement(memory="ram", offset_bytes=999)}
    assert plan_id(plan.tiled, moved) == one, "values are in no blob"


@pytest.mark.parametrize(
    "place", [Placement(memory="flash", offset_bytes=32), Placement(memory="ram", offset_bytes=16)]
)
def test_another_place_is_another_plan(toy: Any, place: Placement) -> None:
    plan = toy.plan(toy.graph())
    assert plan_id(plan.tiled, {**plan.placements, "/bias.B": place}) != plan_id(plan.tiled, plan.placements)


def test_other_bytes_another_type_or_shape_are_another_plan(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    bytes_ = plan.tiled.scheduled.bound.constants["/bias.B"]
    others = [bytes_, bytes_ + 1, bytes_.view(np.uint8), bytes_.reshape(2, 5)]
    assert len({plan_id(changed(plan.tiled, one), plan.placements) for one in others}) == 4
