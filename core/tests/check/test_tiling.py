"""The checker of tilings against tilings with one fault each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from random_layers import schedule_on
from tilewright.check.tiling import check_tiles
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, SplitReduction, Tiles, key_of
from tilewright.ir.plans.stages import Tiled
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import cluster
from tilewright.testing.one_step import vocabulary, with_kernel
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile

CONV: dict[str, Any] = {
    "op": "Conv",
    "inputs": [np.zeros((1, 8, 16, 16), np.float32), np.zeros((12, 8, 3, 3), np.float32)],
    "attributes": {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1)},
    "constants": (1,),
}
CLIP: dict[str, Any] = {"op": "Add", "inputs": [np.zeros((8, 8), np.float32), np.zeros((8, 8), np.float32)]}


def plan(layer: dict[str, Any] = CONV, scratchpad_bytes: int = 4096) -> Tiled:
    tiler = StepTiler(name="cost", summary="")
    return tile(schedule_on(layer, cluster(scratchpad_bytes)), vocabulary(), tiler, Decisions())


def with_hop(tiled: Tiled, change: Callable[[Hop], Hop]) -> Tiled:
    (group,) = tiled.groups
    hop = change(group.region.hops[0])
    split = tuple(name for name, _ in hop.nest if name in ("c", "k"))
    sums = {group.name: SplitReduction(loops=split, dtype=DType.F32)} if split else {}
    region = replace(group.region, schedule=Tiles(hops=(hop,)), sums=sums)
    return replace(tiled, groups=(replace(group, region=region),))


def copy(hop: Hop, operand: str, **changes: Any) -> Hop:
    key = key_of("node", operand)
    return replace(hop, copies={**hop.copies, key: replace(hop.copies[key], **changes)})


def resident(hop: Hop) -> Hop:
    return replace(hop, copies={name: Copy(level=0) for name in hop.copies})


def nest(*cuts: tuple[str, int]) -> Callable[[Hop], Hop]:
    return lambda hop: replace(hop, nest=tuple(Cut(*cut) for cut in cuts))


FAULTS: dict[str, tuple[str, Callable[[Hop], Hop]]] = {
    "reduction cut": ("do not follow one another", lambda hop: resident(nest(("c", 4), ("h", 4))(hop))),
    "reduction that is not split": ("reduce loop", nest(("h", 4), ("y", 2))),
    "unknown loop": ("no loop 'q'", nest(("q", 4))),
    "loop twice": ("cut twice", nest(("h", 4), ("h", 2))),
    "size zero": ("multiple of", nest(("h", 0))),
    "larger tiles": ("its largest tile", lambda hop: replace(hop, nest=tuple(Cut(name, 99) for name, _ in hop.nest))),
    "depth": ("at level 9", lambda hop: copy(hop, "X", level=9)),
    "shallow": ("its largest tile", lambda hop: copy(hop, "Y", level=0)),
    "no buffer": ("into 0 buffers", lambda hop: copy(hop, "X", buffers=0)),
    "missing buffer": ("'node.X@l1#2' is not there", lambda hop: copy(hop, "X", buffers=3)),
    "unknown operand": ("no operand 'Q'", lambda hop: replace(hop, copies={**hop.copies, "Q": Copy(level=0)})),
    "unknown path": ("nothing copies", lambda hop: replace(hop, inner="flash")),
}


def test_a_sound_tiling_has_no_faults() -> None:
    assert check_tiles(plan(), vocabulary()) == ()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    words, change = FAULTS[name]
    found = check_tiles(with_hop(plan(), change), vocabulary())
    assert any(words in fault for fault in found), found
    assert all(fault.startswith("step 'node': ") for fault in found)


GEMM: dict[str, Any] = {
    "op": "Gemm",
    "inputs": [np.zeros((6, 700), np.float32), np.zeros((700, 8), np.float32)],
    "constants": (1,),
}
REDUCTION_FAULTS: dict[str, tuple[str, Callable[[Hop], Hop]]] = {
    "order": ("do not follow one another", lambda hop: resident(nest(("k", 20), ("n", 4))(hop))),
    "stored before": ("before its sums are complete", lambda hop: copy(hop, "Y", level=len(hop.nest))),
    "larger tiles": ("'node.acc@l1#0' is not there", nest(("m0", 6), ("n", 8), ("k", 20))),
}


def split_plan() -> Tiled:
    """A tiling whose output comes in more than one tile, each of them in several parts."""
    tiled = plan(GEMM, 512)
    (hop,) = tiled.groups[0].region.hops
    assert "k" in dict(hop.nest) and set(dict(hop.nest)) & {"m0", "n"}
    return tiled


def test_a_reduction_may_be_cut() -> None:
    assert check_tiles(split_plan(), vocabulary()) == ()


@pytest.mark.parametrize("name", REDUCTION_FAULTS)
def test_a_fault_of_a_reduction_is_found(name: str) -> None:
    words, change = REDUCTION_FAULTS[name]
    found = check_tiles(with_hop(split_plan(), change), vocabulary())
    assert any(words in fault for fault in found), found


def test_sums_without_a_buffer_are_found() -> None:
    tiled = split_plan()
    (group,) = tiled.groups
    assert group.region.sums["node"].in_output and check_tiles(tiled, vocabulary()) == ()
    apart = {"node": replace(group.region.sums["node"], in_output=False)}
    changed = replace(tiled, groups=(replace(group, region=replace(group.region, sums=apart)),))
    assert any("'node.acc@l1#0' is not there" in fault for fault in check_tiles(changed, vocabulary()))


def test_a_kernel_that_does_not_accumulate_is_not_cut() -> None:
    tiled = split_plan()
    bound = with_kernel(tiled.scheduled.bound, "node", accumulates=lambda site: None)
    found = check_tiles(replace(tiled, scheduled=replace(tiled.scheduled, bound=bound)), vocabulary())
    assert any("loop 'k' is a reduce loop" in fault for fault in found)


def test_a_buffer_that_is_too_small_elsewhere_or_dead_is_found() -> None:
    tiled = plan()
    for change, words in (
        ({"size_bytes": 8}, "its largest tile"),
        ({"memories": ("l2",)}, "not in memory 'l1'"),
        ({"first": 3, "last": 4}, "not alive"),
    ):
        buffers = tuple(replace(item, **change) if item.name == "node.X@l1#0" else item for item in tiled.buffers)
        assert any(words in fault for fault in check_tiles(replace(tiled, buffers=buffers), vocabulary()))


def test_tiles_beyond_the_near_memory_are_found() -> None:
    tiled = plan(scratchpad_bytes=16384)
    bound = replace(tiled.scheduled.bound, platform=cluster(1024))
    small = replace(tiled, scheduled=replace(tiled.scheduled, bound=bound))
    assert any("of memory 'l1'" in fault for fault in check_tiles(small, vocabulary()))


@pytest.mark.parametrize(
    ("limits", "words"), [({"max_bytes": 2}, "takes 2 B"), ({"align": 128}, "aligned to 128"), ({"dimensions": 1}, "")]
)
def test_transfers_that_the_engine_does_not_take_are_found(limits: dict[str, Any], words: str) -> None:
    tiled = plan()
    platform = tiled.scheduled.bound.platform
    copies = tuple(replace(path, **limits) for path in platform.copies)
    bound = replace(tiled.scheduled.bound, platform=replace(platform, copies=copies))
    found = check_tiles(replace(tiled, scheduled=replace(tiled.scheduled, bound=bound)), vocabulary())
    assert any(words in fault for fault in found) if words else found == ()


def test_a_multiple_that_is_not_kept_is_found() -> None:
    tiled = with_hop(plan(CLIP, 600), nest(("_lead1", 3)))
    binding = tiled.scheduled.bound.bindings["node"]
    strict = replace(binding, kernel=replace(binding.kernel, multiples={"_lead1": 2}))
    bound = replace(tiled.scheduled.bound, bindings={"node": strict})
    found = check_tiles(replace(tiled, scheduled=replace(tiled.scheduled, bound=bound)), vocabulary())
    assert any("no multiple of 2" in fault for fault in found)


def test_reading_what_was_already_stored_is_found() -> None:
    """The output in the input's bytes, four rows at a time: the row above the next tile is gone."""
    square = {**CONV, "inputs": [CONV["inputs"][0], np.zeros((8, 8, 3, 3), np.float32)]}
    tiled = plan(square, 65536)
    storage = {**tiled.scheduled.storage, "out0": tiled.scheduled.storage["in0"]}
    shared = replace(tiled, scheduled=replace(tiled.scheduled, storage=storage))

    def change(hop: Hop) -> Hop:
        return copy(copy(nest(("h", 4))(hop), "X", level=1), "Y", level=1)

    assert any("has been stored" in fault for fault in check_tiles(with_hop(shared, change), vocabulary()))
    assert not any("has been stored" in fault for fault in check_tiles(with_hop(tiled, change), vocabulary()))
