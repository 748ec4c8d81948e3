"""Rows as a program tells of them, and the values that they become."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.runners.traced_lines import TracedRows, decode_rows, see_rows, traced_rows
from tilewright.testing.one_step import vocabulary

VALUE = TracedRows(
    step=3,
    value="v",
    tensor=Tensor(name="v", dtype=DType.I8, shape=(1, 2, 4, 3)),
    layout=(0, 1, 2, 3),
    axis=2,
    extents=4,
)


@pytest.fixture(name="plan", scope="module")
def _plan() -> Allocated:
    planner = portable_planner(optimize="ram")
    return Fitting(planner=planner).plan(planner.bind(row_network(0, vocabulary()).graph, ONE_MEMORY))


def told(number: int, step: int, first: int, rows: np.ndarray[tuple[int, ...], np.dtype[np.int8]]) -> bytes:
    """Rows along axis 2 of a block of `VALUE`, as the harness writes them."""
    head = struct.pack("<5I", number, step, first, rows.shape[2], 0)
    return head + np.ascontiguousarray(rows[0]).tobytes()


@pytest.mark.parametrize("layout", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_rows_become_the_value(layout: tuple[int, ...]) -> None:
    value = replace(VALUE, layout=layout)
    array = np.arange(24, dtype=np.int8).reshape(1, 2, 4, 3)
    content = b""
    for first, end in ((0, 1), (1, 3), (3, 4)):
        stored = array[:, :, first:end].transpose(layout)
        content += struct.pack("<5I", 0, 3, first, end - first, 0) + np.ascontiguousarray(stored).tobytes()
    (found,) = decode_rows((value,), content, 1)
    np.testing.assert_array_equal(found["v"], array)
    assert not isinstance(found["v"], np.ma.MaskedArray)


def test_rows_that_were_not_computed_are_masked() -> None:
    array = np.arange(24, dtype=np.int8).reshape(1, 2, 4, 3)
    found, nothing = decode_rows((VALUE,), told(0, 3, 0, array[:, :, :3]), 2)
    assert nothing == {}
    seen = found["v"]
    assert isinstance(seen, np.ma.MaskedArray)
    np.testing.assert_array_equal(np.ma.getmaskarray(seen)[0, 0, :, 0], [False, False, False, True])
    np.testing.assert_array_equal(seen.data[:, :, :3], array[:, :, :3])


@pytest.mark.parametrize("layout", [(0, 1, 2, 3), (0, 2, 3, 1)])
def test_rows_of_stripes_become_the_value(layout: tuple[int, ...]) -> None:
    value = replace(VALUE, layout=layout, column_axis=3, stripes=((0, 1), (0, 2)))
    array, content = np.arange(24, dtype=np.int8).reshape(1, 2, 4, 3), b""
    for stripe, (low, high) in enumerate(value.stripes):
        room = np.full((1, 2, 4, 2), -1, np.int8)  # for the widest
        room[..., : high - low] = array[..., low:high]
        content += struct.pack("<5I", 0, 3, 0, 4, stripe) + np.ascontiguousarray(room.transpose(layout)).tobytes()
    (found,) = decode_rows((value,), content, 1)
    seen = found["v"]
    assert isinstance(seen, np.ma.MaskedArray)
    np.testing.assert_array_equal(np.ma.getmaskarray(seen)[0, 1, 2], [False, False, True])
    np.testing.assert_array_equal(seen.data[..., :2], array[..., :2])


@pytest.mark.slow
def test_values_of_regions_by_rows_are_traced(plan: Allocated) -> None:
    inner = {value for region in plan.tiled.regions if region.line_buffers for value in region.unmaterialised}
    traced = {one.value: one for one in traced_rows(plan)}
    assert inner and traced.keys() == inner
    for one in traced.values():
        assert one.axis is None or one.tensor.shape[one.axis] == one.extents


def test_a_main_hears_of_every_value_and_of_none_where_there_are_none() -> None:
    text = see_rows((VALUE, replace(VALUE, step=7, axis=None)))
    assert "{3u, 0, 0, 0},\n    {7u, 4, 0, 0},\n};\nenum { TRACED = 2 };" in text
    assert text.count("keep_rows(") == 2  # a head, and the blocks
    assert see_rows(()) == ""
    late = see_rows((VALUE,), untraced=4)
    assert "traced_set < 4u" in late and "{traced_set - 4u, step" in late


@pytest.mark.parametrize(("io", "called"), [("push", "net_push_"), ("pull", "net_pull_"), ("pool", "")])
def test_rows_pass_in_turns(io: str, called: str) -> None:
    from tilewright.ir.graphs.graph import Tensor
    from tilewright.ir.plans.decisions import Decisions
    from tilewright.ir.programs.program import Port
    from tilewright.ir.tensors.dtypes import DType
    from tilewright.runners.traced_lines import run_by_rows

    class Plan:
        decisions = Decisions(io={"x": io, "y": io})  # type: ignore[dict-item]  # of the parameters above

    class Asked:
        plan, prefix = Plan, "net"

    job: Any = Asked
    x, y = (
        Port(value=name, member=name, tensor=Tensor(name=name, dtype=DType.F32, shape=(4,)), align=4) for name in "xy"
    )
    text = run_by_rows(job, (x,), (y,))
    assert called in text and bool(text) == bool(called)
