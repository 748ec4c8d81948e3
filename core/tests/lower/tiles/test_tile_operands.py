"""Where an operand of a tiled step is, level by level, and how far its windows reach."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.errors import Exit
from tilewright.ir.access.index_map import parse_map
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, SplitReduction, Tiles
from tilewright.ir.plans.stages import Step
from tilewright.ir.programs.program import Parameter
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower.tiles.tile_nest import nest_of
from tilewright.lower.tiles.tile_operands import TileBuffers, extent_ranges, operand_names, unsupported_tile
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

MAP = parse_map("o h y<3 : X[h*2+y-1?] -> Y[o,h]").bind({"X": (16,), "Y": (4, 8)})


def binding(operand: str, shape: tuple[int, ...] = (16,)) -> Any:
    return SimpleNamespace(operand=operand, shape=shape, layout=tuple(range(len(shape))), dtype=DType.I16)


def nest(*cuts: Cut) -> Any:
    return nest_of(MAP, [Hop(outer="l2", inner="l1", nest=cuts)], "box_t")


def slots(level: int, *cuts: Cut) -> TileBuffers:
    made = nest(*cuts)
    return TileBuffers(
        binding=binding("X"),
        level=made.levels[0],
        copy=Copy(level=level, buffers=2),
        name="x",
        buffers=("one", "two"),
        capacity=(7,),
    )


def test_windows_at_the_edges_are_shorter() -> None:
    """Three rows touch seven positions, less the padding before the first; the last two touch five."""
    made = nest(Cut("h", 3))
    assert extent_ranges(made, binding("X"), made.ranges) == ((5, 7),)
    assert extent_ranges(made, binding("Y", (4, 8)), made.ranges) == ((4, 4), (2, 3))


def test_windows_of_no_trips_count_from_the_first_to_the_last() -> None:
    made = nest(Cut("h", 3))
    assert extent_ranges(made, binding("X"), {**made.ranges, "h": ((4, 4), (0, 3))})[0][0] <= 2


def test_all_buffers_of_an_operand_are_as_large_as_its_largest_window() -> None:
    one = slots(1, Cut("h", 3))
    assert one.size_bytes == 14
    assert [(each.buffer, each.size_bytes) for each in one.ranges] == [("one", 14), ("two", 14)]


@pytest.mark.parametrize(
    ("level", "cuts", "resident"),
    [
        (0, (Cut("h", 3),), True),
        (1, (Cut("h", 3),), False),
        (1, (Cut("o", 4), Cut("h", 3)), True),  # one trip of `o`
        (1, (Cut("o", 2), Cut("h", 3)), False),
    ],
)
def test_what_no_loop_with_several_tiles_is_around_is_resident(level: int, cuts: Any, resident: bool) -> None:
    assert slots(level, *cuts).resident is resident


def test_operands_have_names_that_nothing_else_has() -> None:
    book: Any = SimpleNamespace(bases=[Parameter(type="uint8_t *", name="w")])
    names = operand_names([binding(name) for name in ("X", "W", "T", "Near", "weird-name")], book)
    assert names["X"] == "x"
    assert not {names[name] for name in ("W", "T", "Near")} & {"w", "t", "near"}
    assert len(set(names.values())) == 5 and all(name.isidentifier() for name in names.values())


def test_a_tiling_without_code_says_why() -> None:
    error = unsupported_tile(Step(name="conv", nodes=("conv",)), "there is no way")
    assert (error.code, error.exit_code) == ("TW4041", Exit.UNSUPPORTED)
    assert "'conv' cannot be generated: there is no way" in error.message


def test_a_step_computes_in_the_first_of_the_tiles_in_which_it_does_the_same(generate: Any, pools: Any) -> None:
    """All rows of `a` are there before the first of three tiles."""
    (region,) = pools.plan.tiled.regions
    held = {**region.internal_values, "a:0": replace(region.internal_values["a:0"], form="whole")}
    made = generate(pools.plan.tiled.scheduled.bound.graph, replace(region, internal_values=held))
    done = [(name, tile) for name, tile in made.done_by("net_2_maxpool") if name.endswith("_compute")]
    assert [tile for name, tile in done if name == "net_0_maxpool_compute"] == [0]
    assert [tile for name, tile in done if name == "net_1_clip_compute"] == [0, 1, 2]


@pytest.fixture(name="product", params=[True, False], ids=["in the output", "apart"])
def _product(generate: Any, request: Any) -> Any:
    """8 x 24 times 24 x 16 floats: tiles of four rows, each in parts of ten, ten and four."""
    sketch = Sketch(operators=vocabulary())
    weights = sketch.constant(np.ones((24, 16), np.float32))
    graph = sketch.finish(sketch.node("Gemm", (sketch.input("x", DType.F32, (8, 24)), weights), name="fc"))
    copies = {"fc.A": Copy(level=2), "fc.B": Copy(level=2), "fc.Y": Copy(level=1)}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("m0", 4), Cut("k", 10)), copies=copies)
    sums = {"fc": SplitReduction(loops=("k",), dtype=DType.F32, in_output=request.param)}
    return request.param, generate(graph, Region(steps=("fc",), schedule=Tiles(hops=(hop,)), sums=sums))


def test_the_kernel_is_told_the_first_and_the_last_part(product: Any) -> None:
    _, made = product
    body = made.function("net_0_gemm_compute")
    assert "box.k.low == 0" in body and "box.k.high == 24" in body
    assert ".acc_row = 16," in body, "floats from row to row of the tile"


def test_sums_are_where_they_were_in_every_part_of_a_tile(product: Any) -> None:
    """In the output's tile buffer, which is another one for other rows, or in an accumulator of their own."""
    in_output, made = product
    found = [
        dict(
            next(
                what
                for _, what in made.done_by("net_0_gemm_compute", t=tile, a=1, b=2, y=700)
                if isinstance(what, dict)
            )
        )
        for tile in range(6)
    ]
    acc = {names["my_acc"] for names in found}
    place = made.plan.placements.get("fc.acc@l1#0")
    assert acc == ({700} if in_output else {place.offset_bytes})
    assert {names["my_y"] for names in found} == {700}


def test_an_accumulator_has_room_for_a_tile(product: Any) -> None:
    in_output, made = product
    sizes = {one.name: one.size_bytes for one in made.plan.tiled.buffers}
    assert sizes["fc.Y@l1#0"] == 4 * 16 * 4
    assert sizes.get("fc.acc@l1#0") == (None if in_output else 4 * 16 * 4)


def test_what_is_complete_leaves_once(product: Any) -> None:
    _, made = product
    stores = [tile for name, tile in made.done_by("net_0_gemm") if name == "net_0_gemm_store_y"]
    assert stores == [2, 5]
