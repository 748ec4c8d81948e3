"""Sums of a reduction in parts: begun with its first part, finished with its last, and kept in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.region import Copy, Cut, Hop, Region, SplitReduction, Tiles
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch


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
