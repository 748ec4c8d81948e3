"""Constants of a plan with the bytes of its tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from packed_product import COLUMNS, ROWS, planned

from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.plan.tile_packing import packed_for_tiles
from tilewright.testing.cluster import CLUSTER


def numbered(tile: TileShape) -> Mapping[str, np.ndarray[Any, Any]]:
    """Every byte says where its tile begins."""
    return {"P": np.full((tile.extent("n"), COLUMNS), tile.box["n"][0], np.uint8)}


KERNEL = Kernel(
    name="toy.gemm",
    op="MatMul",
    target=CLUSTER.name,
    access="n k : A[...,k] P[n,:] -> Y[...,n]",
    pack=lambda site: {"P": np.zeros((ROWS, COLUMNS), np.uint8)},
    pack_tile=numbered,
    cycles=lambda tile: 1.0,
    rank=1,
    call=";",
)


def test_each_tile_has_its_bytes_and_the_plan_another_id() -> None:
    made = planned(KERNEL, 2 << 10)
    plan = made.allocated
    (cut,) = plan.tiled.groups[0].region.hops[0].nest
    expected = [row // cut.size * cut.size for row in range(ROWS)]
    assert 1 < cut.size < ROWS
    assert plan.tiled.scheduled.bound.constants["only.P"][:, 0].tolist() == expected
    assert not plan.tiled.scheduled.bound.constants["only.P"].flags.writeable
    bare = made.planning.plan(made.planned_with)
    assert bare.plan_id != plan.plan_id and bare.placements == plan.placements
    assert packed_for_tiles(plan).plan_id == plan.plan_id


def test_a_plan_without_such_kernels_stays_itself() -> None:
    made = planned(replace(KERNEL, pack_tile=None), 2 << 10)
    assert packed_for_tiles(made.allocated) is made.allocated
