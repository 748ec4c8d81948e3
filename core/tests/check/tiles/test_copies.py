"""What is copied has a buffer, a way, and transfers that the engine takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, Cut
from tilewright.ir.plans.stages import Tiled


def with_buffer(tiled: Tiled, name: str, **changes: Any) -> Tiled:
    assert name in {one.name for one in tiled.buffers}
    buffers = tuple(replace(one, **changes) if one.name == name else one for one in tiled.buffers)
    return replace(tiled, buffers=buffers)


def with_copies(tiled: Tiled, change: Callable[[Any], Any]) -> Tiled:
    bound = tiled.scheduled.bound
    copies = tuple(one for path in bound.platform.copies if (one := change(path)))
    bound = replace(bound, platform=replace(bound.platform, copies=copies))
    return replace(tiled, scheduled=replace(tiled.scheduled, bound=bound))


@pytest.mark.parametrize("form", ["recomputed", "rolling"])
def test_what_is_sound_has_no_faults(pools: Any, form: str) -> None:
    assert pools.with_held(a=form, b="recomputed").faults() == ()
    assert pools.with_copies(a_X=Copy(level=0), c_Y=Copy(level=0)).faults() == ()
    assert pools.with_copies(a_X=Copy(level=1, buffers=2), c_Y=Copy(level=1, buffers=3)).faults() == ()


@pytest.mark.parametrize(
    ("name", "needed"),
    [("a.X@l1#0", 7 * 32), ("c.Y@l1#0", 3 * 32), ("a.Y@l1#0", 5 * 32), ("b.Y@l1#0", 5 * 32)],
)
def test_every_buffer_has_room_for_its_largest_tile(pools: Any, name: str, needed: int) -> None:
    """Three rows of the last pool read five of the clip, these five of the first pool, and these seven."""
    sizes = {one.name: one.size_bytes for one in pools.tiled.buffers}
    needed = min(needed, sizes[name])
    assert pools.faults(with_buffer(pools.tiled, name, size_bytes=needed)) == ()
    (found,) = pools.faults(with_buffer(pools.tiled, name, size_bytes=needed - 1))
    assert f"tile buffer '{name}' has {needed - 1} B, its largest tile {needed} B" in found


def test_each_of_several_buffers_is_there(pools: Any) -> None:
    two = pools.with_copies(c_Y=Copy(level=1, buffers=2))
    (found,) = two.faults(pools.tiled)
    assert found == "group 'c': step 'c': tile buffer 'c.Y@l1#1' is not there, or not in memory 'l1'"


def test_values_are_alive_where_the_region_runs(pools: Any) -> None:
    (found,) = pools.faults(with_buffer(pools.tiled, "x", last=0))
    assert found == "group 'c': step 'a': 'x' is not alive where the region runs"


def test_there_is_a_way_from_wherever_a_value_may_be(pools: Any) -> None:
    elsewhere = with_buffer(pools.tiled, "x", memories=("l2", "l1"))
    assert any("nothing copies X between 'l1' and 'l1'" in fault for fault in pools.faults(elsewhere))
    inward = with_copies(pools.tiled, lambda path: path if path.target == "l1" else None)
    (found,) = pools.faults(inward)
    assert found == "group 'c': step 'c': nothing copies Y between 'l2' and 'l1'"


@pytest.mark.parametrize(("align", "sound"), [(16, True), (32, False)])
def test_transfers_begin_where_the_engine_may(pools: Any, align: int, sound: bool) -> None:
    """Rows of 16 bytes: tiles begin at odd ones, too."""
    found = pools.faults(with_copies(pools.tiled, lambda path: replace(path, align=align)))
    assert (found == ()) is sound
    assert all(f"not aligned to {align} B" in fault for fault in found)


def test_a_value_that_crosses_whole_does_so_for_all_who_read_it(beside: Any) -> None:
    """The input goes to l2 under the pool's name; both readers copy it on from there."""
    once, both = Copy(level=0), beside.with_copies(c_B=Copy(level=1))
    assert both.behind(a_X=once, c_Y=once).faults() == ()
    assert any("'x' goes to 'l2' twice" in fault for fault in both.behind(a_X=once, c_B=once, c_Y=once).faults())
    sound = both.behind(a_X=once, c_Y=once)
    buffers = tuple(one for one in sound.tiled.buffers if one.name != "a.X@l2#0")
    missing = sound.faults(replace(sound.tiled, buffers=buffers))
    assert any("tile buffer 'a.X@l2#0' is not there" in fault for fault in missing)
    lost = both.behind(c_Y=once).faults(both.behind(a_X=once, c_Y=once).tiled)
    assert any("nothing copies X between 'l3' and 'l1'" in fault for fault in lost)


@pytest.mark.parametrize(("align", "sound"), [(16, True), (32, False)])
def test_a_tile_buffer_further_out_begins_where_transfers_may(beside: Any, align: int, sound: bool) -> None:
    once, both = Copy(level=0), beside.with_copies(c_B=Copy(level=1))
    made = both.behind(a_X=once, c_Y=once)
    found = made.faults(with_copies(made.tiled, lambda path: replace(path, align=align)))
    assert (found == ()) is sound


def test_rows_stay_only_where_windows_go_forward_along_one_axis(pools: Any) -> None:
    rolling = Copy(level=1, window="rolling")
    assert pools.with_copies(a_X=rolling).faults() == ()
    columns = pools.with_hop(nest=(Cut("w", 2),)).with_copies(a_X=rolling)
    assert columns.faults() == ()
    both = pools.with_hop(nest=(Cut("h", 3), Cut("w", 2))).with_copies(
        a_X=Copy(level=2, window="rolling"), c_Y=Copy(level=2)
    )
    assert both.faults() == (), "along the inner one, anew for each tile of the outer one"


def leaving(pools: Any, form: str, level: int) -> Any:
    """The first pool's output is an output of the graph, too."""
    bound = pools.scheduled.bound
    graph = replace(bound.graph, outputs=("a:0", *bound.graph.outputs))
    scheduled = replace(pools.scheduled, bound=replace(bound, graph=graph))
    return replace(pools, scheduled=scheduled).with_held(a=form, b="recomputed").with_copies(a_Y=Copy(level=level))


def test_a_value_leaves_when_it_is_computed_and_once(pools: Any) -> None:
    out = leaving(pools, "rolling", 1)
    place = next(one for one in out.scheduled.buffers if one.name == "a:0")
    around = out.tiled
    kept = (replace(place, memories=("l2",), first=0, last=2), *(one for one in around.buffers if one.name != "a:0"))
    around = replace(around, buffers=kept)
    assert out.faults(around) == ()
    early = leaving(pools, "rolling", 0).faults(around)
    assert any("'a:0' leaves at level 0, and loops inside move it" in fault for fault in early)


def test_scratch_is_where_the_region_computes(pools: Any) -> None:
    place = next(one for one in pools.tiled.buffers if one.name == "c.Y@l1#0")
    sound = replace(place, name="c.scratch", kind="scratch")
    for changes, faults in (({}, 0), ({"memories": ("l2",)}, 1), ({"first": 3, "last": 3}, 1)):
        tiled = replace(pools.tiled, buffers=(*pools.tiled.buffers, replace(sound, **changes)))
        assert len(pools.faults(tiled)) == faults
