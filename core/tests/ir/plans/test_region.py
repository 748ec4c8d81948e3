"""Regions: what is derived from them, by name."""

from __future__ import annotations

from tilewright.ir.plans.region import (
    FlattenedRows,
    Hop,
    InternalValue,
    LineBuffers,
    Region,
    RepeatedCalls,
    Tiles,
    Whole,
    key_of,
)


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


def test_only_tiles_have_hops_and_only_line_buffers_have_calls() -> None:
    tiles = Tiles(hops=(Hop(outer="l2", inner="l1"),))
    rows = LineBuffers(loops=("h",), extents=(1,), call_schedule=(RepeatedCalls((0,), 3),))
    found = [Region(steps=("a",), schedule=schedule) for schedule in (Whole(), tiles, rows)]
    assert [region.hops for region in found] == [(), tiles.hops, ()]
    assert [region.line_buffers for region in found] == [None, None, rows]
    assert [region.together for region in found] == [False, True, True]
    assert Region(steps=("a",)) == found[0]


def test_a_row_of_a_flattened_image_is_several_iterations() -> None:
    """Of [4, 3, 5], channels first: four runs of five. Where nothing is said, every iteration is a row."""
    flattened = {"product": FlattenedRows(runs=4, length=5)}
    rows = LineBuffers(loops=("k",), extents=(1,), call_schedule=(), flattened=flattened)
    assert (rows.rows_of("product").rows(60), rows.rows_of("another").rows(60)) == (3, 60)
