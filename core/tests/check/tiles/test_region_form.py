"""Regions that mean nothing, one thing wrong at a time; the steps of `test_tiling_regions.py` in a few lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.check.tiling import check_tiles
from tilewright.ir.access.index_map import Footprint
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, InternalValue, Region, SplitReduction, Tiles
from tilewright.ir.plans.stages import Group, Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary, with_kernel
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import listed, tile

HELD = InternalValue(memory="l1", form="recomputed")
COPIES = {"a.X": Copy(level=1), "c.Y": Copy(level=1)}
CLIPS = Region(
    steps=("a", "b", "c"),
    schedule=Tiles(hops=(Hop(outer="l2", inner="l1", nest=(Cut("_lead1", 3),), copies=COPIES),)),
    internal_values={"a:0": HELD, "b:0": HELD},
)


@cache
def clips(outputs: tuple[str, ...] = ()) -> Tiled:
    """Three clips of 6 x 4 floats, one after the other, each in one piece."""
    sketch = Sketch(operators=vocabulary())
    value = sketch.input("x", DType.F32, (6, 4))
    for name in "abc":
        value = sketch.node("Clip", (value,), {"min": 0.0}, name)
    bound = bind(sketch.finish(*outputs, value), cluster(), vocabulary(), portable_kernels(), Decisions())
    apart = Decisions(in_place=dict.fromkeys(("a:0", "b:0", "c:0"), ""))
    return tile(schedule(bound, vocabulary(), apart), vocabulary(), WholeTiler(), Decisions())


def faults(region: Region, plan: Tiled | None = None, *alone: str) -> tuple[str, ...]:
    """Of a plan with every buffer of the sound region; `alone` are steps beside it."""
    scheduled = (plan or clips()).scheduled
    sound = listed(scheduled, vocabulary(), (Group(region=CLIPS),), Decisions())
    groups = (*(Group(region=Region(steps=(name,))) for name in alone), Group(region=region))
    return check_tiles(replace(sound, groups=groups), vocabulary())


def with_hop(**changes: Any) -> Region:
    return replace(CLIPS, schedule=Tiles(hops=(replace(CLIPS.hops[0], **changes),)))


def with_copies(**copies: Copy) -> Region:
    changed = {f"{key[0]}.{key[1]}": copy for key, copy in copies.items()}
    return with_hop(copies={**COPIES, **changed})


def with_held(value: str, **changes: Any) -> Region:
    return replace(CLIPS, internal_values={**CLIPS.internal_values, value: replace(HELD, **changes)})


def test_what_is_sound_has_no_faults() -> None:
    assert faults(CLIPS) == ()
    assert faults(with_hop(nest=(Cut("_lead1", 1),))) == (), "tiles of one row"


WRONG: Mapping[str, Region] = {
    "its steps do not follow one another in the schedule": replace(CLIPS, steps=("b", "a", "c")),
    "it does not write 'x', which is to stay in memory 'l1'": replace(CLIPS, resident={"x": "l1"}),
    "'c:0' is to stay in memory 'l1', and may be placed elsewhere": replace(CLIPS, resident={"c:0": "l1"}),
    "its tiles go over no hop": replace(CLIPS, schedule=Tiles(hops=()), internal_values={}),
    "it goes over no hop, and holds 'a:0'": replace(CLIPS, schedule=Tiles(hops=())),
    "it goes over no hop, and splits a reduction of 'a'": replace(
        CLIPS, schedule=Tiles(hops=()), internal_values={}, sums={"a": SplitReduction(loops=(), dtype=DType.F32)}
    ),
    "its inner values are not those that its steps, the last excepted, write": replace(
        CLIPS, internal_values={"a:0": HELD}
    ),
    "there is no memory 'l9' to hold 'a:0' in": with_held("a:0", memory="l9"),
    "'cluster' cannot use 'a:0' in memory 'flash'": with_held("a:0", memory="flash"),
    "a loop is cut twice on the hop to 'l1'": with_hop(nest=(Cut("_lead1", 3), Cut("_lead1", 1))),
    "there is no loop 'q' to cut": with_hop(nest=(Cut("q", 3),)),
    "tiles of 0 trips of loop '_lead1' are no multiple of 1": with_hop(nest=(Cut("_lead1", 0),)),
    "a reduction of 'a' is split": replace(CLIPS, sums={"a": SplitReduction(loops=("k",), dtype=DType.F32)}),
    "there is no operand 'a.Q' to copy": with_copies(aQ=Copy(level=0)),
    "there is no operand 'b.X' to copy": with_copies(bX=Copy(level=1)),
    "a.X is copied at level 2 of 1 into 1 buffers": with_copies(aX=Copy(level=2)),
    "a.X is copied at level -1 of 1 into 1 buffers": with_copies(aX=Copy(level=-1)),
    "a.X is copied at level 1 of 1 into 0 buffers": with_copies(aX=Copy(level=1, buffers=0)),
    "a.X keeps rows at level 1 in 2 buffers, or is written": with_copies(aX=Copy(level=1, buffers=2, window="rolling")),
    "a.X keeps rows at level 0 in 1 buffers, or is written": with_copies(aX=Copy(level=0, window="rolling")),
    "c.Y keeps rows at level 1 in 1 buffers, or is written": with_copies(cY=Copy(level=1, window="rolling")),
    "'a:0' leaves from 2 buffers, or is computed again": with_copies(aY=Copy(level=1, buffers=2)),
    "'a:0' leaves from 1 buffers, or is computed again": with_copies(aY=Copy(level=1)),
    "it goes to 'l2', and on from 'flash'": replace(
        CLIPS, schedule=Tiles(hops=(Hop(outer="l1", inner="l2", copies={}), replace(CLIPS.hops[0], outer="flash")))
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_a_region_that_means_nothing_is_named(fault: str) -> None:
    found = faults(WRONG[fault])
    assert any(f"'c': {fault}" in one for one in found), found


def test_a_value_that_is_needed_outside_has_to_leave() -> None:
    assert "group 'c': 'a:0' is needed outside" in faults(CLIPS, clips(("a:0",)))
    leaving = replace(
        with_copies(aY=Copy(level=1)), internal_values={**CLIPS.internal_values, "a:0": replace(HELD, form="rolling")}
    )
    assert not any("needed outside" in fault for fault in faults(leaving, clips(("a:0",))))


GEMM = Region(
    steps=("node",),
    schedule=Tiles(
        hops=(
            Hop(
                outer="l2",
                inner="l1",
                nest=(Cut("m0", 3), Cut("k", 20)),
                copies={"node.A": Copy(level=2), "node.B": Copy(level=2), "node.Y": Copy(level=1)},
            ),
        )
    ),
    sums={"node": SplitReduction(loops=("k",), dtype=DType.F32)},
)


@cache
def product() -> Tiled:
    """6 x 70 times 70 x 8 floats: tiles of three rows, each in parts of twenty."""
    inputs = [np.zeros((6, 70), np.float32), np.zeros((70, 8), np.float32)]
    scheduled = one_step("Gemm", inputs, cluster(), constants=(1,))
    return listed(scheduled, vocabulary(), (Group(region=GEMM),), Decisions())


def of_product(region: Region) -> tuple[str, ...]:
    return check_tiles(replace(product(), groups=(Group(region=region),)), vocabulary())


def with_sums(**changes: Any) -> Region:
    return replace(GEMM, sums={"node": replace(GEMM.sums["node"], **changes)})


def nested(*cuts: Cut, **copies: Copy) -> Region:
    changed = {f"node.{name}": copy for name, copy in copies.items()}
    hop = replace(GEMM.hops[0], nest=cuts, copies={**GEMM.hops[0].copies, **changed})
    return replace(GEMM, schedule=Tiles(hops=(hop,)))


def test_only_loops_of_an_index_map_are_cut() -> None:
    plan = product()
    access = plan.scheduled.bound.layers["node"].access
    opaque = Footprint(loops=access.loops, inputs=access.inputs, outputs=access.outputs, windows=access.window)
    bound = with_kernel(plan.scheduled.bound, "node", access=lambda site: opaque)
    unknown = replace(plan, scheduled=replace(plan.scheduled, bound=bound))

    def found(*cuts: Cut) -> tuple[str, ...]:
        region = replace(nested(*cuts), sums={})
        return check_tiles(replace(unknown, groups=(Group(region=region),)), vocabulary())

    assert "step 'node': loop 'm0' is cut, though its windows are no index map" in found(Cut("m0", 3))
    assert not any("index map" in fault for fault in found(Cut("m0", 6))), "in one piece"


SPLIT: Mapping[str, Region] = {
    "loop 'k' is a reduce loop and cannot be cut": replace(GEMM, sums={}),
    "loop 'n' is a reduce loop and cannot be cut: its kernel does not accumulate": with_sums(loops=("k", "n")),
    "partial results are i32, the kernel has f32": with_sums(dtype=DType.I32),
    "a reduction is cut on another hop than that to 'l1'": replace(GEMM, schedule=Tiles(hops=GEMM.hops * 2)),
    "tiles of a reduction of Y do not follow one another": nested(Cut("k", 20), Cut("m0", 3)),
    "Y is stored before its sums are complete": nested(Cut("m0", 3), Cut("k", 20), Y=Copy(level=2)),
    "sums of Y are to be in its tile, which is not there or of another type": replace(
        with_sums(in_output=True), schedule=Tiles(hops=(replace(GEMM.hops[0], copies={"node.A": Copy(level=2)}),))
    ),
}


def test_a_reduction_in_parts_is_sound() -> None:
    assert of_product(GEMM) == ()
    assert of_product(with_sums(in_output=True)) == ()


@pytest.mark.parametrize("fault", SPLIT)
def test_a_reduction_that_is_split_wrongly_is_named(fault: str) -> None:
    found = of_product(SPLIT[fault])
    assert any(f"'node': {fault}" in one for one in found), found
