"""Operands in banks, looked at by who knows no planner: what two places give, and each of them alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.check.plans.banks import bank_faults
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.plans.stages import Allocated, Buffer, Group, Placement, Tiled
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step, vocabulary, with_kernel

BANK = 64
BANKED = Memory(name="l1", size_bytes=None, align=BANK, bank_bytes=BANK)
ONE = Platform(name="board", memories=(replace(BANKED, name="ram"),))
TWO = replace(CLUSTER, memories=tuple(BANKED if each.name == "l1" else each for each in CLUSTER.memories))
X = np.ones((1, 12), np.float32)  # 48 bytes


def faults(platform: Platform, region: Region, places: dict[str, int], banks: Any) -> list[str]:
    scheduled = one_step("Add", [X, X], platform)
    scheduled = replace(scheduled, bound=with_kernel(scheduled.bound, "node", banks=banks))
    names = {f"{value}": place.buffer for value, place in scheduled.storage.items()}
    memory = region.hops[-1].inner if region.hops else "ram"
    placed = {names.get(name, name): Placement(memory=memory, offset_bytes=at) for name, at in places.items()}
    buffers = tuple(
        Buffer(name=name, kind="tile", size_bytes=48, align=16, first=0, last=0, memories=(memory,)) for name in placed
    )
    tiled = Tiled(scheduled=scheduled, groups=(Group(region=region),), buffers=buffers)
    plan = Allocated(tiled=tiled, placements=placed, pools=(), away=(), decisions=Decisions(), plan_id=0)
    return list(bank_faults(plan, vocabulary()))


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        (0, 64, []),
        (16, 64, []),
        (32, 128, ["finds A in several banks"]),
        (0, 16, ["finds B in several banks", "finds A and B in bank 0 of memory 'ram'"][1:]),
        (20, 64, ["finds A in several banks", "finds A and B in bank 1 of memory 'ram'"]),
    ],
)
def test_values_where_they_live(a: int, b: int, told: list[str]) -> None:
    found = faults(ONE, Region(steps=("node",)), {"in0": a, "in1": b}, (("A", "B"),))
    assert len(found) == len(told)
    assert all(words in fault for words, fault in zip(told, found, strict=True))


def test_every_tile_buffer_counts() -> None:
    copies = {"node.A": Copy(level=1, buffers=2), "node.B": Copy(level=0)}
    hop = Hop(outer="l2", inner="l1", nest=(Cut("_lead1", 4),), copies=copies)
    region = Region(steps=("node",), schedule=Tiles(hops=(hop,)))
    places = {"node.A@l1#0": 0, "node.A@l1#1": 64, "node.B@l1#0": 128, "node.scratch": 192}
    assert faults(TWO, region, places, (("A", "B"), ("scratch",))) == []
    both = faults(TWO, region, {**places, "node.B@l1#0": 64}, (("A", "B"),))
    assert len(both) == 1 and "finds A and B in bank 1 of memory 'l1'" in both[0]
    assert "scratch in several banks" in faults(TWO, region, {**places, "node.scratch": 224}, (("scratch",),))[0]
