"""The order of things: nothing is read before it is there, nothing overwritten before it is done with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from layer_programs import two_hops
from tilewright.ir.plans.region import Copy, Cut, Tiles

FETCH, STORE, KEEP = "net_0_maxpool_fetch_x_0", "net_2_maxpool_store_y_2", "net_0_maxpool_keep"
COMPUTES = ("net_0_maxpool_compute", "net_1_clip_compute", "net_2_maxpool_compute")


def events(made: Any, *names: str) -> list[tuple[str, Any]]:
    """The calls of some parts, and barriers, in the order in which the DMA core meets them."""
    return [one for one in made.done_by("net_2_maxpool") if one[0] in names]


def generated(generate: Any, pools: Any, **copies: Copy) -> Any:
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    changed = {**hop.copies, **{f"{key[0]}.{key[1]}": copy for key, copy in copies.items()}}
    return generate(
        pools.plan.tiled.scheduled.bound.graph, replace(region, schedule=Tiles(hops=(replace(hop, copies=changed),)))
    )


def test_all_steps_are_computed_in_each_tile_one_after_the_other(pools: Any) -> None:
    order = [name for name, _ in events(pools, KEEP, "barrier", *COMPUTES)]
    tile = ["barrier", KEEP, "barrier", COMPUTES[0], "barrier", COMPUTES[1], "barrier", COMPUTES[2], "barrier"]
    assert order == 3 * tile


def test_with_one_buffer_the_next_window_is_fetched_when_the_tile_is_done(pools: Any) -> None:
    order = events(pools, FETCH, COMPUTES[2])
    assert order == [
        (FETCH, None),
        (COMPUTES[2], 0),
        (FETCH, 0),
        (COMPUTES[2], 1),
        (FETCH, 1),
        (COMPUTES[2], 2),
    ]


def test_with_two_buffers_it_is_fetched_before(generate: Any, pools: Any) -> None:
    order = events(generated(generate, pools, aX=Copy(level=1, buffers=2)), FETCH, COMPUTES[0])
    assert order == [(FETCH, None), (FETCH, 0), (COMPUTES[0], 0), (FETCH, 1), (COMPUTES[0], 1), (COMPUTES[0], 2)]


def test_outputs_leave_tile_by_tile_from_one_buffer_after_the_other(pools: Any) -> None:
    assert events(pools, STORE) == [(STORE, 0), (STORE, 1), (STORE, 2)]
    loop = pools.function("net_2_maxpool")
    assert "net_2_maxpool_store_y_2(t, l2, &y_2[t % 2]);" in loop
    assert "net_2_maxpool_compute(t, l1, y_2[t % 2].bytes);" in loop


@pytest.mark.parametrize("buffers", [1, 2, 3])
def test_every_buffer_that_is_stored_is_waited_for(generate: Any, pools: Any, buffers: int) -> None:
    """Before it is written again, and after the last tile."""
    made = generated(generate, pools, cY=Copy(level=1, buffers=buffers))
    waits = [one for one, _ in events(made, "tw_arrived", STORE, COMPUTES[2])]
    last = len(waits) - 1 - waits[::-1].index(STORE)
    assert waits[last + 1 :] == ["tw_arrived"] * buffers
    array = "y_2[0]" if buffers == 1 else f"y_2[t % {buffers}]"
    assert f"tw_arrived(&{array});" in made.function("net_2_maxpool")


def test_what_is_resident_is_fetched_and_stored_once(generate: Any, pools: Any) -> None:
    made = generated(generate, pools, aX=Copy(level=0), cY=Copy(level=0))
    assert events(made, FETCH, STORE) == [(FETCH, None), (STORE, None)]
    order = [name for name, _ in events(made, FETCH, STORE, "tw_arrived", *COMPUTES)]
    assert order[:2] == [FETCH, "tw_arrived"] and order[-2:] == [STORE, "tw_arrived"]


def test_a_whole_region_in_one_tile_has_no_loop(generate: Any, pools: Any) -> None:
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    copies = {name: Copy(level=0) for name in hop.copies}
    held = {value: replace(one, form="whole") for value, one in region.internal_values.items()}
    whole = replace(region, schedule=Tiles(hops=(replace(hop, nest=(), copies=copies),)), internal_values=held)
    made = generate(pools.plan.tiled.scheduled.bound.graph, whole)
    assert "for (int32_t t" not in made.function("net_2_maxpool")
    assert [name for name, _ in events(made, FETCH, STORE, *COMPUTES)] == [FETCH, *COMPUTES, STORE]


def test_tiles_of_an_inner_hop_are_a_function_with_a_queue_of_its_own(generate: Any, pools: Any) -> None:
    """Six and two rows over the outer hop, each cut in tiles of three rows."""
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    outer = replace(hop, outer="l3", inner="l2", nest=(Cut("h", 6),))
    held = {value: replace(one, form="recomputed") for value, one in region.internal_values.items()}
    nested = replace(region, schedule=Tiles(hops=(outer, hop)), internal_values=held)
    made = generate(pools.plan.tiled.scheduled.bound.graph, nested, platform=two_hops(1 << 14, 1 << 14))
    queues = {
        name: [line for line in made.function(name).splitlines() if line.startswith("tw_queue")]
        for name in ("net_2_maxpool", "net_2_maxpool_l1")
    }
    assert queues == {
        "net_2_maxpool": ["tw_queue copies = {.started = 0};"],
        "net_2_maxpool_l1": ["tw_queue copies_1 = {.started = 0};"],
    }
    done = [name for name, _ in made.done_by("net_2_maxpool")]
    assert done.count("net_2_maxpool_l1") == 2
    assert done.count("net_2_maxpool_compute") == 2 + 1
    assert done.count("net_2_maxpool_store_y_2_l2") == 2 and done.count("net_2_maxpool_store_y_2_l1") == 3


def test_windows_that_several_tiles_share_are_brought_with_the_first(generate: Any, pools: Any) -> None:
    """Two tiles of channels inside each tile of rows."""
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    inside = replace(hop, nest=(Cut("h", 4), Cut("c", 1)), copies={"a.X": Copy(level=1), "c.Y": Copy(level=2)})
    held = {value: replace(one, form="recomputed") for value, one in region.internal_values.items()}
    made = generate(
        pools.plan.tiled.scheduled.bound.graph, replace(region, schedule=Tiles(hops=(inside,)), internal_values=held)
    )
    assert events(made, FETCH, STORE) == [
        (FETCH, None), (STORE, 0), (FETCH, 1), (STORE, 1), (STORE, 2), (STORE, 3)
    ]  # fmt: skip
