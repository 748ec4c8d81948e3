"""What a core is given for its share of a tile: pointers to where its part of each operand is."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch


def given(made: Any, function: str, **names: Any) -> dict[str, Any]:
    """The variables around the kernel's call."""
    found = [what for name, what in made.done_by(function, **names) if isinstance(what, dict)]
    (only,) = found
    return dict(only)


@pytest.mark.parametrize(("tile", "first"), [(0, 0), (1, 2), (2, 2)])
def test_a_value_that_is_held_is_written_behind_the_rows_that_stay(pools: Any, tile: int, first: int) -> None:
    """Rows 0-4, then 4-7 behind the two that stay, then row 7 behind two."""
    place = pools.plan.placements["a.Y@l1#0"].offset_bytes
    names = given(pools, "net_0_maxpool_compute", t=tile, x_0=9000)
    assert names["my_y_0"] == place + 16 * first
    assert names["my_x_0"] == 9000, "the tile buffer begins with the first row of the window"


def test_a_step_reads_where_the_one_before_has_written(pools: Any) -> None:
    places = {name: pools.plan.placements[f"{name}.Y@l1#0"].offset_bytes for name in "ab"}
    names = given(pools, "net_1_clip_compute", t=1)
    assert (names["my_x_1"], names["my_y_1"]) == (places["a"], places["b"])


def test_estimated_cycles_are_charged_in_proportion(pools: Any) -> None:
    charged = [dict(pools.done_by("net_0_maxpool_compute", t=tile, x_0=0))["tw_charge"] for tile in range(3)]
    assert [rows for _, rows, _ in charged] == [4, 3, 1]
    assert {(cycles, most) for cycles, _, most in charged} == {(305, 1)}, "of one of four rows on eight cores"


def test_a_core_without_rows_computes_nothing(pools: Any) -> None:
    body = pools.function("net_0_maxpool_compute")
    assert body.index("if (mine.low < mine.high) {") < body.index("tw_max_pool_f32(")


def product(generate: Any, *nest: Cut, **copies: Copy) -> Any:
    """8 x 24 times 24 x 16 floats, reduction and all cut as `nest` says."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (8, 24))
    weights = sketch.constant(np.ones((24, 16), np.float32))
    graph = sketch.finish(sketch.node("Gemm", (x, weights), name="fc"))
    level = len(nest)
    chosen = {f"fc.{name}": copies.get(name, Copy(level=level)) for name in "ABY"}
    hop = Hop(outer="l2", inner="l1", nest=nest, copies=chosen)
    return generate(graph, Region(steps=("fc",), schedule=Tiles(hops=(hop,))))


def test_a_tile_is_computed_from_tile_buffers(generate: Any) -> None:
    made = product(generate, Cut("m0", 4))
    names = given(made, "net_0_gemm_compute", t=1, a=100, b=200, y=300)
    assert (names["my_a"], names["my_b"], names["my_y"]) == (100, 200, 300)
    resident = product(generate, Cut("m0", 4), A=Copy(level=0), Y=Copy(level=0), B=Copy(level=0))
    names = given(resident, "net_0_gemm_compute", t=1, a=100, b=200, y=300)
    assert (names["my_a"], names["my_b"], names["my_y"]) == (100 + 4 * 96, 200, 300 + 4 * 64)


def test_cores_that_share_a_tile_have_scratch_of_their_own(pools: Any, generate: Any) -> None:
    """Each as much as the largest share needs, from the beginning of the step's scratch on."""
    clip = portable_kernels()["portable.clip"]
    needy = replace(clip, scratch_bytes=lambda tile: 24, call="needy(${X}, ${Y}, ${scratch});")
    (region,) = pools.plan.tiled.regions
    graph = pools.plan.tiled.scheduled.bound.graph
    for parallel in (clip.parallel, ()):
        kernels = {"portable.clip": replace(needy, parallel=parallel)}
        made = generate(graph, region, kernels=kernels)
        (line,) = (one for one in made.function("net_1_clip_compute").splitlines() if "*const scratch" in one)
        assert ("24 * (int32_t)tw_rt_core()" in line) is bool(parallel)
        place = made.plan.placements["c.scratch"].offset_bytes
        assert given(made, "net_1_clip_compute", t=0)["scratch"] == place
    assert "scratch" not in pools.function("net_1_clip_compute")


def test_box_of_the_tile_is_declared_only_where_it_is_named(pools: Any, generate: Any) -> None:
    assert "net_2_maxpool_box box" in pools.function("net_0_maxpool_compute")
    alone = product(generate, A=Copy(level=0), B=Copy(level=0), Y=Copy(level=0))
    assert "_box" not in alone.function("net_0_gemm_compute")
    assert SimpleNamespace(**given(alone, "net_0_gemm_compute", a=1, b=2, y=3)).my_a == 1
