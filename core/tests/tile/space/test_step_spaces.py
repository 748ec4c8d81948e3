"""How a step becomes a space of tilings: which operand comes from where, and what room there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.region import Copy, Cut, Hop, SplitReduction, Tiles, Whole
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import RUNTIME_BYTES, cluster, copy_path
from tilewright.testing.one_step import one_step, vocabulary, with_kernel
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.space.step_spaces import step_space, tiled_alone

NEAR = 4096  # bytes of scratchpad for tiles
OUTER, INNER = "l2", "l1"  # near ends of hops


def nested() -> Platform:
    """l3, where values live, before l2 and l1; constants enter at l1. `side` is beside l3, `off` beside nothing."""
    near = cluster(RUNTIME_BYTES + NEAR)
    more = (Memory(name="l3", size_bytes=None), Memory(name="side", size_bytes=None), Memory(name="off", size_bytes=99))
    ways = [("l3", "l2"), ("l2", "l3"), ("side", "l2"), ("l2", "side")]
    copies = (*near.copies, *(copy_path(*way) for way in ways))
    return replace(near, memories=(*more, *near.memories), copies=copies, backing="l3")


def product(platform: Platform | None = None, **decided: Any) -> ScheduledMachine:
    """8 x 200 floats times constant weights of 200 x 16."""
    inputs = [np.zeros((8, 200), np.float32), np.zeros((200, 16), np.float32)]
    scheduled = one_step("Gemm", inputs, platform or cluster(RUNTIME_BYTES + NEAR), constants=(1,))
    return ScheduledMachine(scheduled, vocabulary(), Decisions(**decided))


def space(machine: ScheduledMachine, near: str = INNER, **more: Any) -> Any:
    return step_space(machine, 0, machine.scheduled.steps[0], near, **more)


def copied(machine: ScheduledMachine, near: str = INNER, **more: Any) -> dict[str, str]:
    """By operand the memory at the other end of its path."""
    found = {item.name: (item.path, item.written) for item in space(machine, near, **more).copied}
    return {name: path.target if written else path.source for name, (path, written) in found.items()}


def test_everything_crosses_the_only_hop() -> None:
    machine = product()
    assert machine.hops == (HopMemories(outer="l2", inner="l1"),)
    assert copied(machine) == {"A": "l2", "B": "flash", "Y": "l2"}


def test_on_one_memory_nothing_does() -> None:
    alone = replace(cluster(NEAR), inner="", copies=())
    machine = product(alone)
    assert (machine.hops, machine.memory_path.backing_memories, machine.memory_path.constant_memories) == (
        (),
        ("l2", "l1"),
        ("flash",),
    )


def test_constants_enter_where_they_first_can() -> None:
    machine = product(nested())
    assert machine.hops == (HopMemories(outer="l3", inner="l2"), HopMemories(outer="l2", inner="l1"))
    assert copied(machine, OUTER) == {"A": "l3", "Y": "l3"}
    assert copied(machine, INNER) == {"A": "l2", "B": "flash", "Y": "l2"}
    assert machine.memory_path.backing_memories == ("l3", "side")


@pytest.mark.parametrize(
    ("memory", "outer", "inner"),
    [("l3", "l3", "l2"), ("side", "side", "l2"), ("l2", None, "l2"), ("l1", None, None)],
)
def test_a_pinned_value_crosses_what_lies_between(memory: str, outer: str | None, inner: str | None) -> None:
    machine = product(nested(), memories={"in0": memory})
    assert copied(machine, OUTER).get("A") == outer
    assert copied(machine, INNER).get("A") == inner
    resident = product(nested())
    assert copied(resident, OUTER, resident={"in0": memory}).get("A") == outer, "the same where it is resident"


def test_a_copied_constant_comes_from_its_copy() -> None:
    (name,) = product().bound.constants
    assert copied(product(staged={name: Staging(memory="l2")}))["B"] == "l2"
    assert copied(product(memories={name: "l1"})).keys() == {"A", "Y"}


def test_what_need_not_cross_is_spared() -> None:
    machine = product()
    assert space(machine).spared_bytes == 0
    assert space(machine, resident={"in0": "l1"}).spared_bytes == 8 * 200 * 4


def test_room_is_the_size_less_the_runtime_and_what_is_pinned() -> None:
    assert product().available_bytes("l1", 0) == NEAR
    assert product().available_bytes("l2", 0) is None
    pinned = product(memories={"out0": "l1"})
    assert pinned.available_bytes("l1", 0) == NEAR - 8 * 16 * 4
    assert [buffer.name for buffer in pinned.pinned["l1"]] == ["out0"]
    assert pinned.available_bytes("l1", 1) == NEAR, "where it is dead"
    assert space(pinned).available_bytes == NEAR - 8 * 16 * 4


def test_reductions_are_cut_where_that_is_asked_for_and_the_kernel_can() -> None:
    whole, split = space(product()), space(product(), split=True)
    assert [loop.name for loop in whole.cuts] == ["m0", "n"]
    assert "k" in whole.refused and whole.sums is None
    assert [loop.name for loop in split.cuts] == ["m0", "n", "k"]
    assert split.sums is not None and split.sums.dtype is DType.F32
    assert space(product(nested()), OUTER, split=True).sums is None, "only into the scratchpad"


def test_inside_tiles_of_an_outer_hop_there_is_what_they_leave() -> None:
    machine = product(nested())
    outer = Hop(outer="l3", inner="l2", nest=(Cut("m0", 3),), copies={"node.A": Copy(level=1), "node.Y": Copy(level=1)})
    inner = space(machine, INNER, outer=(outer,))
    assert (inner.extents["m0"], inner.extents["n"], inner.around) == (3, 16, (("m0", (3,)),))
    shapes = {item.name: item.shape for item in inner.copied}
    assert shapes == {"A": (3, 200), "B": (16, 200), "Y": (3, 16)}, "the weights are packed, and not cut"


def test_an_input_under_the_output_is_marked() -> None:
    machine = product()
    assert space(machine).once == ()
    storage = {**machine.scheduled.storage, "out0": machine.scheduled.storage["in0"]}
    over = ScheduledMachine(replace(machine.scheduled, storage=storage), vocabulary(), Decisions())
    assert space(over).once == ("A",)


def test_a_kernel_may_read_an_operand_where_it_lives() -> None:
    machine = product()
    for memories, stays, crossing in ((("l2",), (), "BY"), ((), ("A",), "BY"), (("l1",), (), "ABY")):
        asked: Mapping[str, Any] = {"memories": {"A": memories}} if memories else {"stays": lambda site, s=stays: s}
        bound = with_kernel(machine.bound, "node", **asked)
        other = ScheduledMachine(replace(machine.scheduled, bound=bound), vocabulary(), Decisions())
        assert "".join(copied(other)) == crossing


def test_a_region_of_one_step_splits_what_its_nest_cuts() -> None:
    machine = product()
    (step,) = machine.scheduled.steps
    copies = {f"node.{name}": Copy(level=2) for name in "ABY"}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("m0", 4), Cut("k", 20)), copies=copies)
    region = tiled_alone(machine, step, (hop,))
    assert region.sums == {"node": SplitReduction(loops=("k",), dtype=DType.F32, in_output=True)}
    assert region.schedule == Tiles(hops=region.hops) and tiled_alone(machine, step, ()).schedule == Whole()
    apart = replace(hop, copies={name: copy for name, copy in copies.items() if name != "node.Y"})
    assert tiled_alone(machine, step, (apart,)).sums["node"].in_output is False, "the output is not copied"
    assert tiled_alone(machine, step, (replace(hop, nest=(Cut("m0", 4), Cut("k", 200))),)).sums == {}, "in one part"
