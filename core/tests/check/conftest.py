"""Three steps that are tiled together soundly: tests change one thing of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from layer_programs import two_hops
from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, Tiles
from tilewright.ir.plans.stages import Group, Scheduled, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.layout import row_major
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import portable_kernels, vocabulary
from tilewright.testing.sketch import Sketch
from tilewright.tile.tile import listed

POOL = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
HELD = InternalValue(memory="l1", form="recomputed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A region and the plan that it is in. `tiled` has every buffer that the region needs, to the byte."""

    scheduled: Scheduled
    region: Region

    @property
    def tiled(self) -> Tiled:
        return listed(self.scheduled, vocabulary(), (Group(region=self.region),), Decisions())

    def faults(self, tiled: Tiled | None = None) -> tuple[str, ...]:
        """Of the region in a plan: its own where no other is given."""
        around = tiled or self.tiled
        return check_tiles(replace(around, groups=(Group(region=self.region),)), vocabulary())

    def with_region(self, **changes: Any) -> Checked:
        return replace(self, region=replace(self.region, **changes))

    def with_hop(self, **changes: Any) -> Checked:
        return self.with_region(schedule=Tiles(hops=(replace(self.region.hops[0], **changes),)))

    def behind(self, **copies: Copy) -> Checked:
        """The same inside one tile of a hop before it, over which everything crosses whole."""
        named = {key.replace("_", "."): copy for key, copy in copies.items()}
        return self.with_region(schedule=Tiles(hops=(Hop(outer="l3", inner="l2", copies=named), *self.region.hops)))

    def with_copies(self, **copies: Copy) -> Checked:
        """`a_X` is the operand X of step a."""
        changed = {key.replace("_", "."): copy for key, copy in copies.items()}
        return self.with_hop(copies={**self.region.hops[0].copies, **changed})

    def with_held(self, **forms: Any) -> Checked:
        return self.with_region(internal_values={f"{name}:0": replace(HELD, form=form) for name, form in forms.items()})


def chain(*ops: str, platform: Platform | None = None) -> Checked:
    """Steps `a`, `b` and `c` of 2 x 8 x 4 floats, of which rows of the last are cut in 3, 3 and 2; a sum is that of the
    step before and the input `x`.
    """
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (1, 2, 8, 4))
    for name, op in zip("abc", ops, strict=True):
        given = (value, "x") if op == "Add" else (value,)
        value = sketch.node(op, given, {"MaxPool": POOL, "Clip": {"min": 0.0}}.get(op), name)
    rows = Decisions(layouts=dict.fromkeys(("a:0", "b:0"), row_major(4)))
    bound = bind(sketch.finish(value), platform or cluster(), vocabulary(), portable_kernels(), rows)
    cut = Cut("h" if ops[-1] == "MaxPool" else "_lead1", 3)
    hop = Hop(outer="l2", inner="l1", nest=(cut,), copies={"a.X": Copy(level=1), "c.Y": Copy(level=1)})
    return Checked(
        scheduled=schedule(bound, vocabulary(), Decisions(in_place={f"{name}:0": "" for name in "abc"})),
        region=Region(steps=("a", "b", "c"), schedule=Tiles(hops=(hop,)), internal_values={"a:0": HELD, "b:0": HELD}),
    )


@pytest.fixture(scope="session")
def pools() -> Checked:
    """A pool of 3 x 3, a clip, and a pool."""
    return chain("MaxPool", "Clip", "MaxPool")


@pytest.fixture(scope="session")
def clips() -> Checked:
    """A clip, a pool of 3 x 3, and a clip."""
    return chain("Clip", "MaxPool", "Clip")


@pytest.fixture(scope="session")
def beside() -> Checked:
    """A pool, a clip, and the sum of that and of the pool's input, on a machine with a memory further out."""
    return chain("MaxPool", "Clip", "Add", platform=two_hops(1 << 16, 1 << 16))
