"""Knows that windows priced together cost what each costs on its own. Does not know which sizes a search asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_layers import layers, schedule_on
from tilewright.ir.machines.platform import CopyPath
from tilewright.ir.plans.decisions import Decisions
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import vocabulary
from tilewright.tile.cost.tiling_problem import WindowCosts, many_transfers
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.grid import grid
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import CopiedOperand, TilingSpace, WindowTable

pytestmark = pytest.mark.slow


@st.composite
def windows(draw: Any) -> tuple[CopiedOperand, list[tuple[int, ...]], list[tuple[int, ...]]]:
    """An operand, windows of it and the tile buffers that they are in."""
    rank = draw(st.integers(1, 4))
    shape = tuple(draw(st.integers(1, 9)) for _ in range(rank))
    most = draw(st.sampled_from([None, 7, 24, 64]))
    path = CopyPath(
        source="far",
        target="near",
        dimensions=draw(st.integers(1, 3)),
        max_bytes=most,
        align=draw(st.sampled_from([1, 2, 4])),
        cycles=lambda size, rows: 45.0 + size / 8 + 8.0 * rows,
    )
    item = CopiedOperand(
        name="X",
        written=False,
        shape=shape,
        layout=tuple(draw(st.permutations(range(rank)))),
        item_bytes=draw(st.sampled_from([1, 2, 4])),
        path=path,
        loops=(),
        steps=draw(
            st.sampled_from([(), *[tuple(2 if at == axis else 1 for at in range(rank)) for axis in range(rank)]])
        ),
    )
    extents = [tuple(draw(st.integers(0, extent)) for extent in shape) for _ in range(draw(st.integers(1, 8)))]
    rooms = [tuple(draw(st.integers(max(one, 1), most)) for one, most in zip(e, shape, strict=True)) for e in extents]
    return item, extents, rooms


@settings(max_examples=300, deadline=None)
@given(windows())
def test_many_windows_cost_what_each_costs(
    case: tuple[CopiedOperand, list[tuple[int, ...]], list[tuple[int, ...]]],
) -> None:
    item, extents, rooms = case
    size, cycles = many_transfers(item, *(list(np.array(each).T) for each in (extents, rooms)))
    for number, (window, room) in enumerate(zip(extents, rooms, strict=True)):
        one = item.transfers(window, room)
        assert size[number] == one.size_bytes
        assert cycles[number] == one.cycles(item.path)


def inside_one_trip(space: TilingSpace, name: str) -> TilingSpace:
    """What is left to cut where a hop around it takes the trips of one loop one by one."""
    return replace(
        space,
        around=((name, (1,)),),
        extents={**space.extents, name: 1},
        cuts=tuple(loop for loop in space.cuts if loop.name != name),
        copied=tuple(replace(item, loops=tuple(loop for loop in item.loops if loop != name)) for item in space.copied),
    )


@settings(max_examples=30, deadline=None)
@given(layers(), st.integers(0, 3))
def test_sizes_asked_for_together_are_priced_as_one_by_one(layer: dict[str, Any], outer: int) -> None:
    scheduled = schedule_on(layer, cluster(1 << 16))
    if not scheduled.steps:
        return
    machine = ScheduledMachine(scheduled, vocabulary(), Decisions())
    space = step_space(machine, 0, scheduled.steps[0], machine.hops[0].inner)
    if outer < len(space.cuts):
        space = inside_one_trip(space, space.cuts[outer].name)
    points = grid(space)[::2]
    for item in space.copied:
        columns = [at for at, loop in enumerate(space.cuts) if loop.name in item.loops]
        sizes = [np.unique(grid(space)[:, at]) for at in columns]
        together, apart = (WindowCosts(item, WindowTable(space), sizes, space.grain) for _ in range(2))
        asked = points[:, columns]
        each = np.concatenate([apart.at(asked[at : at + 1]) for at in range(len(asked))])
        np.testing.assert_allclose(together.at(asked), each, rtol=1e-12)
