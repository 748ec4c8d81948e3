"""What is pinned overrules what is proposed, name by name."""

from __future__ import annotations

from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Region


def test_pins_overrule_names_and_leave_the_others() -> None:
    proposed = Decisions(kernels={"a": "fast", "b": "fast"}, memories={"x": "ram"}, order=("a", "b"), tiler="cost")
    pins = Decisions(kernels={"b": "small"}, order=("b", "a"), tiles={"b": Region(steps=("b",))})
    both = proposed.pinned_by(pins)
    assert both.kernels == {"a": "fast", "b": "small"}
    assert (both.memories, both.order, both.tiler) == ({"x": "ram"}, ("b", "a"), "cost")
    assert both.tiles == pins.tiles


def test_what_is_open_decides_nothing() -> None:
    proposed = Decisions(order=("a",), groups=(("a",),), allocator="auto", in_place={"y": "x"})
    assert proposed.pinned_by(Decisions()) == proposed
    assert Decisions().pinned_by(proposed) == proposed
    assert Decisions() == Decisions(kernels={}, order=())
