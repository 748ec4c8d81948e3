"""What the checker of tilings knows of operands, tile buffers, and what a copy engine takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.check.tiles.checked_plan import CheckedPlan, copy_path_of, operands_of, transfer_fault
from tilewright.check.tiles.view_readers import ViewReaders
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Buffer
from tilewright.testing.cluster import CLUSTER, cluster, copy_path
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.tile.strategies import StepTiler
from tilewright.tile.tile import tile


@pytest.fixture(name="plan", scope="module")
def _plan() -> CheckedPlan:
    """6 x 5 times constant 5 x 8 floats."""
    inputs = [np.zeros((6, 5), np.float32), np.zeros((5, 8), np.float32)]
    scheduled = one_step("Gemm", inputs, cluster(), constants=(1,))
    tiled = tile(scheduled, vocabulary(), StepTiler(name="cost", summary=""), Decisions())
    (node,) = scheduled.bound.graph.nodes
    return CheckedPlan(
        tiled=tiled,
        operators=vocabulary(),
        nodes={node.name: node},
        buffers={buffer.name: buffer for buffer in tiled.buffers},
        numbers={node.name: 0},
        views={},
        readers=ViewReaders(scheduled),
    )


def operands(plan: CheckedPlan) -> dict[str, Any]:
    bound = plan.tiled.scheduled.bound
    return {one.name: one for one in operands_of(plan, bound.site(plan.nodes["node"]))}


def test_operands_are_where_their_buffers_may_be(plan: CheckedPlan) -> None:
    found = operands(plan)
    assert list(found) == ["A", "B", "Y"]
    assert [one.memories for one in found.values()] == [("l2",), ("flash",), ("l2",)]
    assert [one.written for one in found.values()] == [False, False, True]
    assert (found["A"].value, found["A"].shape, found["A"].bytes_in((2, 5))) == ("in0", (6, 5), 40)
    assert found["B"].buffer == found["B"].value
    gone = replace(plan, buffers={name: one for name, one in plan.buffers.items() if name != "in0"})
    assert operands(gone)["A"].memories == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"memories": ("l2",)}, "is not there, or not in memory 'l1'"),
        ({"memories": ("l1", "l2")}, "is not there, or not in memory 'l1'"),
        ({"kind": "scratch"}, "is not there, or not in memory 'l1'"),
        ({"size_bytes": 15}, "has 15 B, its largest tile 16 B"),
        ({"first": 3}, "is not alive where the region runs"),
        ({"last": 1}, "is not alive where the region runs"),
    ],
)
def test_tile_buffers_are_there_large_enough_and_alive(plan: CheckedPlan, changes: Any, words: str) -> None:
    sound = Buffer(name="t", kind="tile", size_bytes=16, align=4, first=2, last=2, memories=("l1",))
    given = replace(plan, buffers={"t": replace(sound, **changes)})
    found = list(given.buffer_faults("t", "l1", 16, 2))
    assert found == ([f"tile buffer 't' {words}"] if words else [])
    assert list(given.buffer_faults("u", "l1", 16, 2)) == ["tile buffer 'u' is not there, or not in memory 'l1'"]


def test_a_copy_has_a_direction() -> None:
    inward, outward = (copy_path_of(CLUSTER, "l2", "l1", written) for written in (False, True))
    assert inward is not None and (inward.source, inward.target) == ("l2", "l1")
    assert outward is not None and (outward.source, outward.target) == ("l1", "l2")
    assert copy_path_of(CLUSTER, "flash", "l1", written=False) is not None
    assert copy_path_of(CLUSTER, "flash", "l1", written=True) is None


def fault(plan: CheckedPlan, extents: Any, starts: Any = (0, 0), rooms: Any = ((6, 5), (6, 5)), **limits: Any) -> str:
    """Of the operand A, 6 x 5 floats."""
    return transfer_fault(operands(plan)["A"], extents, starts, rooms, replace(copy_path("l2", "l1"), **limits))


@pytest.mark.parametrize(
    ("extents", "starts", "near", "align", "sound"),
    [
        ((6, 5), (0, 0), (6, 5), 8, True),  # one run of 120 bytes
        ((5, 5), (0, 0), (6, 5), 8, False),  # of 100
        ((2, 2), (0, 0), (2, 2), 4, True),
        ((2, 2), (0, 0), (2, 2), 8, False),  # 20 bytes from row to row in the backing memory
        ((1, 2), (0, 0), (1, 2), 8, True),  # one row
        ((1, 2), (4, 0), (1, 2), 8, False),
        ((1, 2), (0, 4), (1, 2), 8, False),
        ((0, 2), (4, 0), (1, 2), 8, True),  # nothing
    ],
)
def test_runs_begin_and_go_on_where_the_engine_may(
    plan: CheckedPlan, extents: Any, starts: Any, near: Any, align: int, sound: bool
) -> None:
    found = fault(plan, extents, starts, ((6, 5), near), align=align)
    assert found == ("" if sound else f"a transfer of A is not aligned to {align} B, as 'l2' to 'l1' demands")


@pytest.mark.parametrize(("most", "align", "sound"), [(4, 1, True), (3, 1, False), (8, 8, True), (7, 8, False)])
def test_something_has_to_be_short_enough(plan: CheckedPlan, most: int, align: int, sound: bool) -> None:
    found = fault(plan, (6, 5), max_bytes=most, align=align)
    assert found == ("" if sound else f"no run of A is short enough: 'l2' to 'l1' takes {most} B")
