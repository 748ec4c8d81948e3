"""Regions: what is derived from them, by name."""

from __future__ import annotations

from tilewright.ir.plans.region import InternalValue, Region, key_of


def test_a_region_is_named_after_its_sink() -> None:
    assert Region(steps=("a", "b")).name == "b"
    assert key_of("conv", "X") == "conv.X"


def test_values_that_leave_are_not_inner() -> None:
    held = {
        "x": InternalValue(memory="l1", form="rolling"),
        "y": InternalValue(memory="l1", form="whole", live_out=True),
    }
    region = Region(steps=("a", "b", "c"), internal_values=held)
    assert region.unmaterialised == ("x",)
    assert region.forms == {"x": "rolling", "y": "whole"}
