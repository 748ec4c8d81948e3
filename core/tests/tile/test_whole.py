"""Every step a group in one piece; the only regions are those by rows that are decided."""

from __future__ import annotations

from typing import Any

import pytest

from row_networks import on_one_memory
from tilewright.errors import TilewrightError
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import LineBuffers, Region, RepeatedCalls
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler


def request(**decided: Any) -> TilingRequest:
    sketch = Sketch(operators=vocabulary())
    one = sketch.node("Clip", (sketch.input("x", DType.F32, (4, 6)),), {"min": 0.0}, "one")
    machine = on_one_memory(sketch.finish(sketch.node("Clip", (one,), {"max": 4.0}, "two")))
    return TilingRequest(scheduled=machine.scheduled, operators=vocabulary(), decisions=Decisions(**decided))


def test_every_step_is_a_group_with_its_kernels_cycles() -> None:
    asked = request()
    first, second = WholeTiler().plan(asked)
    assert [first.region, second.region] == [Region(steps=("one",)), Region(steps=("two",))]
    binding = asked.scheduled.bound.bindings["one"]
    assert first.cycles in [one.cycles for one in binding.candidates]
    assert first.cycles > 0


def test_a_region_by_rows_that_is_decided_stands_at_its_last_step() -> None:
    rows = LineBuffers(loops=("_lead1", "_lead1"), extents=(1, 1), call_schedule=(RepeatedCalls((0, 1), 4),))
    region = Region(steps=("one", "two"), schedule=rows)
    (group,) = WholeTiler().plan(request(tiles={"two": region}))
    assert group.region == region
    assert group.cycles > 0


def test_steps_of_a_region_must_follow_one_another() -> None:
    rows = LineBuffers(loops=("_lead1", "_lead1"), extents=(1, 1), call_schedule=(RepeatedCalls((0, 1), 4),))
    for steps in (("two", "one"), ("none", "one")):
        with pytest.raises(TilewrightError, match=f"{', '.join(steps)} are not successive steps") as caught:
            WholeTiler().plan(request(tiles={steps[-1]: Region(steps=steps, schedule=rows)}))
        assert caught.value.code == "TW4042"


def test_steps_cannot_stay_together_where_nothing_stays() -> None:
    with pytest.raises(TilewrightError) as caught:
        WholeTiler().plan(request(groups=(("one", "two"),)))
    assert caught.value.code == "TW4042"
    assert len(WholeTiler().plan(request(groups=(("one",), ("two",))))) == 2
