"""The comment above a step's function: nodes, kernel, and where every operand is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, Cut, Tiles
from tilewright.ir.tensors.layout import row_major
from tilewright.lower.steps.step_comments import MOST, type_text


def test_a_step_has_its_nodes_its_kernel_and_its_operands(toy: Any) -> None:
    comment = toy.program(toy.graph()).steps[1].comment
    assert comment == (
        "Step 1 of 4: ToyReverse",
        "  nodes    turn",
        "  kernel   acme.toy_reverse",
        "  X        i8[1,10]  ram [20, 30)  biased",
        "  Y        i8[1,10]  ram [8, 18)   turned",
        "  scratch  u8[8]     ram [0, 8)",
    )


def test_names_of_a_model_cannot_end_a_comment(toy: Any) -> None:
    program = toy.program(toy.graph())
    assert program.steps[0].comment[1] == "  nodes    Add (+1)"
    assert [one.names for one in program.names if one.of.startswith("step 0,")] == [("/bias/_/evil",)]
    assert not any("*/" in line for one in program.names for line in (one.of, *one.names))


def test_the_callers_memory_is_named_by_its_parameter(toy: Any) -> None:
    lines = toy.program(toy.graph(), io="user").steps[0].comment
    assert any("mfcc_0 [0, 10)" in line for line in lines)


@pytest.mark.parametrize("letters", range(50, 130))
def test_no_line_is_longer_than_it_may_be(toy: Any, letters: int) -> None:
    """What does not fit goes on below what the line is about."""
    lines = toy.program(toy.graph(names=("x y " * (letters // 4), "y"))).steps[0].comment
    assert all(len(line) <= MOST for line in lines) and any("x y" in line or "x_y" in line for line in lines)
    assert MOST + len(" * ") < 120, "inside a comment of C"


def test_axes_are_named_where_they_are_not_in_order() -> None:
    assert type_text("i8", (1, 8, 25, 5), row_major(4)) == "i8[1,8,25,5]"
    assert type_text("i8", (1, 8, 25, 5), (0, 2, 3, 1)) == "i8[1,8,25,5] axes (0,2,3,1)"
    assert type_text("i8", (1, 8, 1, 1), (0, 2, 3, 1)) == "i8[1,8,1,1]", "the same bytes"


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
