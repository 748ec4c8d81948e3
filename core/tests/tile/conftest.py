"""Steps small enough to work out by hand: three in one region, and a sum in a scratchpad of so many bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, Tiles
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import row_major
from tilewright.schedule import schedule
from tilewright.testing.cluster import CLUSTER, RUNTIME_BYTES, cluster
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.cost.tile_boxes import Boxes, boxes_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.space.fusion import RegionAnalysis
from tilewright.tile.space.step_spaces import step_space
from tilewright.tile.space.tiling_space import TilingSpace
from tilewright.tile.tile_buffers import analysis_of_region

POOL = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """The pools `a` and `c` of 3 x 3 with the clip `b` between them: 2 x 8 x 4 floats all the way, rows of 32 bytes.

    Tiled together in three tiles of 3, 3 and 2 rows. Of `a` rows stay from tile to tile, of `b` none.
    """

    machine: ScheduledMachine
    region: Region

    @property
    def analysis(self) -> RegionAnalysis:
        return analysis_of_region(self.machine, self.region)

    @property
    def boxes(self) -> Boxes:
        return boxes_of(self.analysis, self.region.hops, self.region.forms)


@pytest.fixture(scope="session")
def pools() -> Pools:
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("MaxPool", (sketch.input("x", DType.F32, (1, 2, 8, 4)),), POOL, "a")
    c = sketch.node("MaxPool", (sketch.node("Clip", (a,), {"min": 0.0}, "b"),), POOL, "c")
    rows = Decisions(layouts=dict.fromkeys(("a:0", "b:0"), row_major(4)))
    bound = bind(sketch.finish(c), CLUSTER, vocabulary(), portable_kernels(), rows)
    scheduled = schedule(bound, vocabulary(), Decisions(in_place={"b:0": ""}))
    hop = Hop(outer="l2", inner="l1", nest=(Cut("h", 3),), copies={"a.X": Copy(level=1), "c.Y": Copy(level=1)})
    held = {"a:0": InternalValue(memory="l1", form="rolling"), "b:0": InternalValue(memory="l1", form="recomputed")}
    return Pools(
        machine=ScheduledMachine(scheduled, vocabulary(), Decisions()),
        region=Region(steps=("a", "b", "c"), schedule=Tiles(hops=(hop,)), internal_values=held),
    )


@pytest.fixture(scope="session")
def joined() -> Callable[[int], TilingSpace]:
    """The tilings of so many parts of 4 x 3 floats that are joined along their second axis, in 8 KiB."""

    def space(parts: int) -> TilingSpace:
        inputs = [np.zeros((4, 3), np.float32)] * parts
        scheduled = one_step("Concat", inputs, cluster(RUNTIME_BYTES + 8192), {"axis": 1})
        return step_space(ScheduledMachine(scheduled, vocabulary(), Decisions()), 0, scheduled.steps[0], "l1")

    return space


@pytest.fixture(scope="session")
def sum_in() -> Callable[[int], TilingSpace]:
    """The tilings of A + B of 6 x 8 floats, 192 bytes each, where tiles may take so many bytes."""

    def space(room_bytes: int) -> TilingSpace:
        inputs = [np.zeros((6, 8), np.float32)] * 2
        scheduled = one_step("Add", inputs, cluster(RUNTIME_BYTES + room_bytes))
        return step_space(ScheduledMachine(scheduled, vocabulary(), Decisions()), 0, scheduled.steps[0], "l1")

    return space
