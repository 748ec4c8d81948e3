"""The lines about tiles above the functions of a region."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.ir.plans.region import Copy, Cut, Tiles


def lines(made: Any, step: str, start: str) -> list[str]:
    return [" ".join(line.split()) for line in made.step(step).comment if line.strip().startswith(start)]


def test_the_last_step_says_how_all_are_tiled(pools: Any) -> None:
    assert lines(pools, "c", "tiles") == ["tiles l1: h 3 x 3 (3), steps 0, 1, 2 together"]
    assert lines(pools, "a", "tiles") == lines(pools, "b", "tiles")
    assert lines(pools, "b", "tiles") == ["tiles together with step 2, whose function computes this one, too"]


def test_every_buffer_has_its_place_and_when_it_is_filled(pools: Any) -> None:
    at = {name: place.offset_bytes for name, place in pools.plan.placements.items()}

    def where(name: str, size: int) -> str:
        return f"[{at[name]}, {at[name] + size})"

    assert lines(pools, "a", "X") == [
        "X f32[1,2,8,4] l2 [0, 256) x",
        f"X f32[1,2,5,4] l1 {where('a.X@l1#0', 160)} tile, for each h",
    ]
    assert lines(pools, "a", "Y") == [f"Y f32[1,2,5,4] l1 {where('a.Y@l1#0', 160)} held (rolling)"]
    assert lines(pools, "c", "X") == [f"X f32[1,2,5,4] l1 {where('b.Y@l1#0', 160)} held (recomputed)"]
    both = f"{where('c.Y@l1#0', 96)}, {where('c.Y@l1#1', 96)}"
    assert lines(pools, "c", "Y")[1] == f"Y f32[1,2,3,4] l1 {both} tile, for each h"


def test_what_is_resident_and_what_rolls_says_so(generate: Any, pools: Any) -> None:
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    copies = {"a.X": Copy(level=1, window="rolling"), "c.Y": Copy(level=0)}
    made = generate(
        pools.plan.tiled.scheduled.bound.graph, replace(region, schedule=Tiles(hops=(replace(hop, copies=copies),)))
    )
    assert lines(made, "a", "X")[1].endswith("new rows, for each h")
    assert lines(made, "c", "Y")[1].endswith("resident")


def test_what_leaves_from_where_it_is_held_has_no_tile_buffer(generate: Any, pools: Any) -> None:
    """The first pool's output is an output of the graph, too."""
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    graph = pools.plan.tiled.scheduled.bound.graph
    leaving = replace(hop, copies={**hop.copies, "a.Y": Copy(level=1)})
    held = {**region.internal_values, "a:0": replace(region.internal_values["a:0"], live_out=True)}
    made = generate(
        replace(graph, outputs=("a:0", *graph.outputs)),
        replace(region, schedule=Tiles(hops=(leaving,)), internal_values=held),
    )
    backing, near = lines(made, "a", "Y")
    assert backing.startswith("Y f32[1,2,8,4] l2 [") and backing.endswith("a:0")
    assert near.startswith("Y f32[1,2,5,4] l1 [") and near.endswith("held (rolling)")


def test_loops_of_one_tile_are_not_named(generate: Any, pools: Any) -> None:
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    copies = {name: replace(copy, level=2) for name, copy in hop.copies.items()}
    nest = (Cut("c", 2), Cut("h", 3))
    held = {value: replace(one, form="recomputed") for value, one in region.internal_values.items()}
    made = generate(
        pools.plan.tiled.scheduled.bound.graph,
        replace(region, schedule=Tiles(hops=(replace(hop, nest=nest, copies=copies),)), internal_values=held),
    )
    assert lines(made, "c", "tiles") == ["tiles l1: c 1 x 2, h 3 x 3 (3), steps 0, 1, 2 together"]
    assert lines(made, "a", "X")[1].endswith("tile, for each h")
