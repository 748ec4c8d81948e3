"""Memory plans as boxes: bytes alive in every column, where names may stand, and what report and plan become."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.ir.plans.allocation import Block, Place, Pool, Problem, Solution
from tilewright.report.drawing.panels import Box, Panel, panels_of_plan, panels_of_report

COLUMNS = 6


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    low, first = draw(st.integers(0, 20)), draw(st.integers(0, COLUMNS - 1))
    return Box(
        name="b", kind="value", low=low, high=low + draw(st.integers(1, 9)), first=first,
        last=draw(st.integers(first, COLUMNS - 1)), life="",
    )  # fmt: skip


def panel(found: list[Box], *, overlaid: bool) -> Panel:
    return Panel(
        pool="p", constant=False, used=0, limit=None, bound=0, optimal=False, times=("0",) * COLUMNS,
        boxes=tuple(found), overlaid=overlaid,
    )  # fmt: skip


@pytest.mark.slow
@given(st.lists(boxes(), max_size=5))
def test_bytes_alive(found: list[Box]) -> None:
    """Byte by byte; where nothing is overlaid, sizes add up."""
    live = panel(found, overlaid=True).live
    added = panel(found, overlaid=False).live
    for column in range(COLUMNS):
        there = [box for box in found if box.first <= column <= box.last]
        assert live[column] == len({byte for box in there for byte in range(box.low, box.high)})
        assert added[column] == sum(box.size for box in there)


@given(boxes(), boxes())
def test_boxes_that_meet(one: Box, other: Box) -> None:
    def cells(box: Box) -> set[tuple[int, int]]:
        return {(byte, column) for byte in range(box.low, box.high) for column in range(box.first, box.last + 1)}

    assert one.overlaps(other) == other.overlaps(one) == bool(cells(one) & cells(other))


def test_where_a_name_may_stand() -> None:
    under = Box(name="u", kind="value", low=0, high=8, first=0, last=4, life="")
    over = Box(name="o", kind="value", low=4, high=6, first=3, last=5, life="")
    assert [panel([under, over], overlaid=True).seen(number) for number in (0, 1)] == [2, 5]
    assert panel([under, over], overlaid=False).seen(0) == 4
    assert panel([over, under], overlaid=True).seen(0) == 5


def block(name: str, size: int, *lifetimes: tuple[int, int]) -> Block:
    return Block(name=name, size_bytes=size, align=1, lifetimes=lifetimes, pools=("p",))


def test_a_problem_has_columns_where_something_changes() -> None:
    """Times 10 to 19, 20 to 29 and 30 to 39; a block without lifetimes is always there, an empty one nowhere."""
    blocks = (block("a", 4, (10, 19), (30, 39)), block("b", 8, (10, 29)), block("c", 2), block("empty", 0, (10, 19)))
    pools = tuple(Pool(name=name, capacity_bytes=64, align=1) for name in "pq")
    problem = Problem(blocks=blocks, pools=pools)
    offsets = {"a": 0, "b": 4, "c": 12, "empty": 0}
    places = {name: Place(pool="p", offset_bytes=offset) for name, offset in offsets.items()}
    (found,) = panels_of_plan(problem, Solution(places=places, bounds={"p": 14}, status="optimal"))
    assert (found.pool, found.used, found.limit, found.optimal, found.constant) == ("p", 14, 64, True, False)
    assert found.times == ("10", "20", "30")
    assert [(box.name, box.low, box.high, box.first, box.last, box.life) for box in found.boxes] == [
        ("a", 0, 4, 0, 0, "10 to 19"), ("a", 0, 4, 2, 2, "30 to 39"), ("b", 4, 12, 0, 1, "10 to 29"),
        ("c", 12, 14, 0, 2, "unknown"),
    ]  # fmt: skip
    assert found.live == (14, 10, 6)


def report(*buffers: dict[str, Any]) -> dict[str, Any]:
    plain = {"kind": "value", "pool": "ram", "values": [], "offset_bytes": 0, "size_bytes": 8, "first_step": 0}
    steps = [
        {"id": n, "name": f"s{n}", "op": op, "onnx_nodes": nodes, "inputs": [], "outputs": [{"name": f"v{n}"}]}
        for n, (op, nodes) in enumerate((("Conv", ["conv", "bias", "relu", "cast"]), ("Gemm", [])))
    ]
    pools = [
        {"name": name, "kind": kind, "used_bytes": 8, "limit_bytes": None, "lower_bound_bytes": 8, "optimal": True}
        for name, kind in (("ram", "ram"), ("ram", "state"), ("rodata", "const"), ("unused", "ram"))
    ]
    every = [{**plain, "last_step": 1, **buffer} for buffer in buffers]
    return {"steps": steps, "pools": pools, "buffers": every, "model": {"inputs": [], "outputs": []}}


def test_buffers_of_a_report() -> None:
    found = panels_of_report(report(
        {"name": "v0", "values": ["v0"], "last_step": 9},
        {"name": "h", "kind": "state", "values": ["v1"]},
        {"name": "w", "kind": "constant", "pool": "rodata", "first_step": 1},
        {"name": "nowhere", "offset_bytes": None},
        {"name": "nothing", "size_bytes": 0},
    ))  # fmt: skip
    assert [(each.constant, [box.name for box in each.boxes]) for each in found] == [
        (False, ["v0"]), (False, ["h"]), (True, ["w"])
    ]  # fmt: skip
    value, state, constant = (each.boxes[0] for each in found)
    assert (value.first, value.last, value.life) == (0, 1, "steps 0 to 1")  # no longer than there are steps
    assert (value.note, state.note) == ("conv, bias, relu and 1 more", "s1")
    assert (constant.first, constant.last, constant.life) == (0, 1, "always")
    assert found[1].pool.startswith("ram (") and found[0].pool == "ram"
    assert found[0].operators == ("Conv", "Gemm") and found[0].times == ("0", "1")


def test_rows_held_say_how_many() -> None:
    rows = {"value": "v1", "buffered_rows": 3, "count": 28}
    (found,) = panels_of_report(report({"name": "r", "values": ["v0"], "rows": rows}))
    assert (found.boxes[0].kind, found.boxes[0].short) == ("line buffer", "3 of 28 rows")
    assert found.boxes[0].note == "3 of 28 rows of s1"
