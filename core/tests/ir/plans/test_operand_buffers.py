"""Buffers in which steps find their operands."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilewright.ir.plans.decisions import Decisions, Staging
from tilewright.ir.plans.operand_buffers import lone_steps, operand_buffers, scratch_buffer, tile_buffers
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.plans.stages import Group, Tiled
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step

SCHEDULED = one_step("MatMul", [np.ones((1, 6), np.float32), np.ones((6, 9), np.float32)], CLUSTER, constants=(1,))
HOP = Hop(
    outer="l2", inner="l1", nest=(Cut("n", 3),), copies={"node.A": Copy(level=0), "node.B": Copy(level=1, buffers=2)}
)
TILED = Region(steps=("node",), schedule=Tiles(hops=(HOP,)))


def test_what_is_copied_is_in_tile_buffers_and_the_rest_where_it_lives() -> None:
    found = operand_buffers(TILED, SCHEDULED, Decisions())
    assert found["A"] == ("node.A@l1#0",) and found["B"] == ("node.B@l1#0", "node.B@l1#1")
    assert found["Y"] == (SCHEDULED.storage["out0"].buffer,)
    assert tile_buffers(TILED, "Y") == () and scratch_buffer(TILED) == "node.scratch"


def test_a_constant_that_has_a_copy_is_read_there() -> None:
    constant = SCHEDULED.bound.bindings["node"].constants["B"]
    decisions = Decisions(staged={constant: Staging(memory="l2")})
    assert operand_buffers(Region(steps=("node",)), SCHEDULED, decisions)["B"] == (f"{constant}@l2",)


def test_steps_in_one_piece_are_alone_whatever_their_region_is() -> None:
    pair, single = Region(steps=("a", "b")), replace(TILED, steps=("c",))
    fused = replace(TILED, steps=("d", "e"))
    groups = tuple(Group(region=region) for region in (pair, single, fused))
    tiled = Tiled(scheduled=SCHEDULED, groups=groups, buffers=())
    assert [region.steps for region in lone_steps(tiled)] == [("a",), ("b",), ("c",)]
