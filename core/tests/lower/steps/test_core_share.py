"""Which part of a tile each core computes, and what a step takes before anything else."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tilewright.ir.access.index_map import parse_map
from tilewright.ir.machines.platform import Engine
from tilewright.ir.plans.region import Cut, Hop
from tilewright.lower.steps.core_share import beginning, core_share
from tilewright.lower.tiles.tile_nest import nest_of
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels

MAP = parse_map("o h c : X[c,h] W[o,c] -> Y[o,h]").bind({"X": (5, 20), "W": (4, 5), "Y": (4, 20)})
KERNEL = replace(portable_kernels()["portable.clip"], parallel=("o", "h"), multiples={})


def step(*nest: Cut, **changes: Any) -> Any:
    """What is asked of a step that is tiled so."""
    levels = nest_of(MAP, [Hop(outer="l2", inner="l1", nest=nest)], "box_t")
    return SimpleNamespace(nest=levels, kernel=replace(KERNEL, **changes), platform=CLUSTER)


def test_cores_share_the_first_loop_that_is_long_enough() -> None:
    """Four of `o` are too few for eight cores, twenty rows are not."""
    found = core_share(step())
    assert (found.loop, found.extent, found.cores) == ("h", 3, 8)
    assert [str(end) for end in found.box["h"]] == ["mine.low", "mine.high"]
    assert [str(one.value) for one in found.declared] == ["tw_share((tw_range){0, 20}, 1)"]
    assert str(found.condition) == "mine.low < mine.high"


def test_shares_are_multiples_that_the_kernel_takes() -> None:
    found = core_share(step(multiples={"h": 4}))
    assert found.extent == 4
    assert str(found.declared[0].value) == "tw_share((tw_range){0, 20}, 4)"


def test_of_a_tile_its_own_rows_are_shared() -> None:
    found = core_share(step(Cut("h", 16)))
    assert str(found.declared[0].value) == "tw_share(box.h, 1)"


def test_without_a_loop_to_share_the_first_core_computes_all() -> None:
    found = core_share(step(parallel=()))
    assert (found.loop, found.extent, found.declared) == ("", 0, ())
    assert str(found.condition) == "tw_rt_core() == 0u"
    assert found.comment.format(tile=" of tile t") == "Computes all of tile t."


def test_where_a_tile_may_have_no_trips_that_is_asked() -> None:
    made = step(Cut("o", 2), parallel=())
    level = made.nest.levels[0]
    empty = replace(level, ranges={**level.ranges, "o": ((0, 2), (2, 2))})
    made.nest = replace(made.nest, levels=(empty,))
    assert str(core_share(made).condition) == "(tw_rt_core() == 0u) && (box.o.low < box.o.high)"


@pytest.mark.parametrize(("engine", "kernel", "cycles"), [(0.0, 0.0, None), (40.4, 0.0, 40), (40.0, 2.0, 84)])
def test_what_a_step_takes_once_is_charged_before_it(engine: float, kernel: float, cycles: int | None) -> None:
    slow = replace(CLUSTER, engines=(Engine(name="cluster", cores=8, step_cycles=engine),))
    steps = [SimpleNamespace(platform=slow, kernel=replace(KERNEL, step_cycles=kernel))] * (2 if kernel else 1)
    charged = beginning(steps)
    assert [str(one.code) for one in charged] == ([f"tw_rt_charge({cycles}u)"] if cycles else [])
