"""Rows that stay are moved to the start of their buffer, as many as the tile before has left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tilewright.ir.plans.region import Copy, Tiles


@pytest.mark.parametrize(("tile", "moved"), [(0, None), (1, (2, 2)), (2, (3, 2))])
def test_rows_of_a_value_inside(pools: Any, tile: int, moved: tuple[int, int] | None) -> None:
    """Two blocks, the channels, of five rows of 16 bytes: rows 2 and 3 of 0-4, then 5 and 6 of 2-7."""
    done = pools.done_by("net_0_maxpool_keep", t=tile)
    if moved is None:
        assert done == []
        return
    (keep, given), (charge, cost) = done
    place = pools.plan.placements["a.Y@l1#0"].offset_bytes
    assert (keep, given) == ("tw_keep", [place, 2, 5, 16, *moved])
    assert (charge, cost[1:]) == ("tw_charge", [2, 2]), "of two rows at most"


@pytest.fixture(name="rolling")
def _rolling(generate: Any, pools: Any) -> Any:
    """The same region, of whose input rows stay, too."""
    (region,) = pools.plan.tiled.regions
    (hop,) = region.hops
    copies = {**hop.copies, "a.X": Copy(level=1, window="rolling")}
    rolls = replace(region, schedule=Tiles(hops=(replace(hop, copies=copies),)))
    return generate(pools.plan.tiled.scheduled.bound.graph, rolls)


@pytest.mark.parametrize(("tile", "by", "stay"), [(1, 3, 2), (2, 3, 2)])
def test_rows_of_a_window(rolling: Any, tile: int, by: int, stay: int) -> None:
    """Windows 0-5, 3-8 and 6-8 of the input."""
    (keep, given), (_, cost) = rolling.done_by("net_0_maxpool_keep_x_0", t=tile, x_0=1000)
    assert (keep, given) == ("tw_keep", [1000, 2, 5, 16, by, stay])
    assert cost[1:] == [stay, 2]
    assert rolling.done_by("net_0_maxpool_keep_x_0", t=0) == []


def test_what_is_new_follows_what_stays(rolling: Any) -> None:
    """Five rows from the first, three from the fifth into the third row of the buffer, none."""

    class Slot:
        bytes = 1000

    def brought(tile: int) -> Any:
        return [given[1:] for _, given in rolling.done_by("net_0_maxpool_fetch_x_0", t=tile, slot=Slot)]

    x = rolling.plan.placements["x"].offset_bytes
    assert brought(0) == [[1000, x, 5 * 16, 2, 80, 128]]
    assert brought(1) == [[1000 + 2 * 16, x + 5 * 16, 3 * 16, 2, 80, 128]]
    assert brought(2) == []
