"""Constants that hold places: those that generated code has, in every tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from packed_product import ROWS, planned

from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel, PlacedTile
from tilewright.ir.plans.stages import Allocated
from tilewright.plan.placed_packing import packed_for_places
from tilewright.testing.cluster import CLUSTER

OPERANDS = ("A", "P", "Y")


def numbered(tile: PlacedTile) -> Mapping[str, np.ndarray[Any, Any]]:
    """Every row has base and offset of each operand."""
    places = [number for name in OPERANDS for number in (tile.places[name].base, tile.places[name].offset_bytes)]
    return {"P": np.array([places] * tile.extent("n"), np.int32)}


KERNEL = Kernel(
    name="toy.gemm", op="MatMul", target=CLUSTER.name, access="n k : A[...,k] P[n,:] -> Y[...,n]", rank=1, call=";",
    pack=lambda site: {"P": np.zeros((ROWS, 2 * len(OPERANDS)), np.int32)}, pack_placed=numbered,
    cycles=lambda tile: 1.0,
)  # fmt: skip


def table(plan: Allocated) -> np.ndarray[Any, Any]:
    return plan.tiled.scheduled.bound.constants["only.P"]


def test_each_tile_has_the_places_of_its_buffers_in_turn() -> None:
    made = planned(KERNEL, 1 << 10)
    plan = made.allocated
    (hop,) = plan.tiled.groups[0].region.hops
    (cut,) = hop.nest
    assert 1 < cut.size < ROWS
    for row, places in enumerate(table(plan).tolist()):
        number, inside = divmod(row, cut.size)
        for operand, (base, offset) in zip(OPERANDS, zip(places[::2], places[1::2], strict=True), strict=True):
            copy = hop.copies[f"only.{operand}"]
            slot = number % copy.buffers if copy.level else 0
            buffer = plan.placements[f"only.{operand}@l1#{slot}"]
            resident = 4 * number * cut.size if operand == "Y" and not copy.level else 0
            assert (base, offset) == (0, buffer.offset_bytes + resident), (operand, row, inside)


def test_packing_again_changes_nothing() -> None:
    made = planned(KERNEL, 1 << 10)
    again = packed_for_places(made.allocated, made.registry.operators)
    assert again.plan_id == made.allocated.plan_id and (table(again) == table(made.allocated)).all()
    assert not table(again).flags.writeable


def test_the_plan_has_another_id_and_the_same_places() -> None:
    made = planned(KERNEL, 1 << 10)
    bare = made.planning.plan(made.planned_with)
    assert bare.plan_id != made.allocated.plan_id and bare.placements == made.allocated.placements


def test_a_plan_without_such_kernels_stays_itself() -> None:
    made = planned(replace(KERNEL, pack_placed=None), 1 << 10)
    assert packed_for_places(made.allocated, made.registry.operators) is made.allocated


def test_a_window_that_several_tiles_read_cannot_hold_what_differs() -> None:
    one = replace(
        KERNEL, access="n k : A[...,k] P[:,:] -> Y[...,n]",
        pack=lambda site: {"P": np.zeros((1, 2 * len(OPERANDS)), np.int32)},
        pack_placed=lambda tile: {"P": numbered(tile)["P"][:1]}, multiples={"n": 10},
        scratch_bytes=lambda tile: 20 * tile.extent("n"),
    )  # fmt: skip
    with pytest.raises(TilewrightError) as caught:
        _ = planned(one, 768).allocated
    assert caught.value.code == "TW5067"
