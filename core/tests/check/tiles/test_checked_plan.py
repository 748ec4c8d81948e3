"""What the checker of tilings knows of operands, tile buffers, and what a copy engine takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from row_networks import on_one_memory
from tilewright.check.tiles.checked_plan import (
    CheckedPlan,
    ViewReaders,
    copy_path_of,
    core_scratch,
    operands_of,
    transfer_fault,
)
from tilewright.ir.machines.kernel import Kernel, TileShape
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Buffer, Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.cluster import CLUSTER, cluster, copy_path
from tilewright.testing.one_step import one_step, vocabulary
from tilewright.testing.sketch import Sketch
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
        ((5, 5), (0, 0), (6, 5), 8, True),  # of 100, and 4 bytes more, which are its own
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


@pytest.mark.parametrize(
    ("extents", "last", "behind", "sound"),
    [
        ((4, 5), False, 0, True),  # 80 bytes
        ((6, 5), True, 8, True),  # 120, and 8 of padding
        ((6, 5), True, 0, False),
        ((5, 5), False, 8, False),  # 100: the next tile follows
        ((6, 4), False, 8, False),
    ],
)
def test_what_is_stored_beside_a_window_is_padding(
    plan: CheckedPlan, extents: Any, last: bool, behind: int, sound: bool
) -> None:
    """Of the operand A, 6 x 5 floats, as if it were written."""
    item, path = replace(operands(plan)["A"], written=True), replace(copy_path("l1", "l2"), align=16)
    found = transfer_fault(item, extents, (0, 0), ((6, 5), extents), path, last=last, behind_bytes=behind)
    assert (found == "") == sound, found


@pytest.mark.parametrize(("most", "align", "sound"), [(4, 1, True), (3, 1, False), (8, 8, True), (7, 8, False)])
def test_something_has_to_be_short_enough(plan: CheckedPlan, most: int, align: int, sound: bool) -> None:
    found = fault(plan, (6, 5), max_bytes=most, align=align)
    assert found == ("" if sound else f"no run of A is short enough: 'l2' to 'l1' takes {most} B")


def flattened(seen: str) -> tuple[Scheduled, dict[str, str]]:
    """A value, its view, and the product of that; of these `seen` is an output, too. And what each is called."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 4))
    value = sketch.node("Sigmoid", (x,))
    view = sketch.node("Reshape", (value,), {"shape": (1, 8)})
    product = sketch.node("MatMul", (view, sketch.constant(np.ones((8, 3), np.float32))))
    names = {"value": value, "view": view, "product": product}
    graph = sketch.finish(*dict.fromkeys((names[seen], product)))
    return on_one_memory(graph).scheduled, names


@pytest.mark.parametrize(("seen", "outside"), [("value", True), ("view", True), ("product", False)])
def test_a_value_is_needed_outside_where_its_view_is(seen: str, outside: bool) -> None:
    scheduled, names = flattened(seen)
    every = [node.name for node in scheduled.bound.graph.nodes]
    assert ViewReaders(scheduled).needed_outside(names["value"], every) is outside
    assert ViewReaders(scheduled).needed_outside(names["value"], every[:-1])  # the product reads the view
    assert ViewReaders(scheduled).needed_outside(names["product"], every)


def test_views_come_with_the_values_that_they_show() -> None:
    scheduled, names = flattened("product")
    readers = ViewReaders(scheduled)
    assert readers.with_views({names["value"]}) == {names["value"], names["view"]}
    assert readers.with_views({names["product"]}) == {names["product"]}
    assert readers.with_views(()) == frozenset()


ENGINE = CLUSTER.engines[0].name


def product(cores: int, scratch: Callable[[TileShape], int], rows: int = 41, **changes: Any) -> Callable[..., int]:
    """What the cores need for a product of so many rows that they share."""
    bound = one_step("MatMul", (np.ones((rows, 6), np.float32), np.ones((6, 5), np.float32)), CLUSTER).bound
    (layer,) = bound.layers.values()
    changes = {"multiples": {}, "blocks": {}, "parallel": ("m",)} | changes
    kernel: Kernel = replace(layer.kernel, scratch_bytes=scratch, **changes)
    platform = replace(CLUSTER, engines=(replace(CLUSTER.engines[0], cores=cores),))

    def needed(most: int, *lengths: int) -> int:
        largest = layer.tile(layer.whole.box | {"m": (0, most)})
        return core_scratch(platform, ENGINE, kernel, largest, {"m": np.array(lengths or (most,))})

    return needed


def test_a_smaller_tile_may_be_shared_by_more_cores() -> None:
    needed = product(8, lambda tile: 10)
    assert needed(41) == 6 * 16 + 10
    assert needed(41, 41, 40) == 7 * 16 + 10
    assert needed(41, 41, 0) == 6 * 16 + 10


def test_one_core_begins_where_all_scratch_does() -> None:
    assert product(1, lambda tile: 10)(41) == 10
    assert product(8, lambda tile: 10, parallel=())(41, 41, 40) == 10


def test_no_scratch_is_none_for_any_number_of_cores() -> None:
    assert product(8, lambda tile: 0)(41, 41, 40) == 0


def test_a_share_needs_what_the_largest_does() -> None:
    """Six trips of seven cores; eight each where whole blocks are shared."""
    assert product(8, lambda tile: tile.extent("m"))(41, 41) == 6 * 8 + 6
    assert product(8, lambda tile: tile.extent("m"), multiples={"m": 8})(41, 41) == 5 * 8 + 8


@pytest.mark.slow
@pytest.mark.parametrize("grain", [1, 4])
@given(most=st.integers(2, 60), others=st.lists(st.integers(0, 59), max_size=3), cores=st.integers(2, 9))
def test_it_is_where_the_last_core_ends_that_has_trips(grain: int, most: int, others: list[int], cores: int) -> None:
    """As `tw_share` gives them out, played core by core."""
    lengths = [most, *(length % most for length in others)]
    needed = product(cores, lambda tile: 24, rows=60, multiples={"m": grain})(most, *lengths)
    busy = {0}
    for length in lengths:
        trips = (length + cores * grain - 1) // (cores * grain) * grain
        busy |= {core for core in range(cores) if core * trips < length}
    alone = most <= grain
    assert needed == (24 if alone else (max(busy) + 1) * 24)
