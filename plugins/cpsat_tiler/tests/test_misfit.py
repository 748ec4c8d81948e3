"""What cannot be met together: no demand that could be left out, limits that do, ways out that work."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.api.testing import cluster, portable_kernels, vocabulary
from tilewright.bind import bind
from tilewright.errors import Exit, TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.tile.tile import tile
from tilewright_cpsat.misfit import Demand, fits, minimal
from tilewright_cpsat.tiler import CpsatTiler


def softmaxes(scratchpad_bytes: int, pins: Decisions) -> Scheduled:
    """Two softmaxes one after the other: rows of 200 numbers that cannot be cut."""
    shape = (8, 200)
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=shape) for name in ("x", "y", "z")}
    nodes = tuple(
        Node(name=f"to_{after}", op="Softmax", inputs=(before,), outputs=(after,), attributes={"axis": 1})
        for before, after in (("x", "y"), ("y", "z"))
    )
    graph = Graph(name="two", inputs=("x",), outputs=("z",), nodes=nodes, tensors=tensors, constants={})
    decisions = replace(pins, in_place={"y": "", "z": ""})
    return schedule(
        bind(graph, cluster(scratchpad_bytes), vocabulary(), portable_kernels(), decisions), vocabulary(), decisions
    )


def error_of(scratchpad_bytes: int, pins: Decisions) -> TilewrightError:
    with pytest.raises(TilewrightError) as caught:
        tile(softmaxes(scratchpad_bytes, pins), vocabulary(), CpsatTiler(), pins)
    return caught.value


def test_a_step_alone() -> None:
    error = error_of(1200, Decisions())
    assert (error.code, error.exit_code) == ("TW5102", Exit.DOES_NOT_FIT)
    text = str(error)
    assert "step 'to_y'" in text and "1 x 200" in text
    assert "operand 'X'" in text and "operand 'Y'" in text
    least = int(re.search(r"--memory l1=(\d+)", text).group(1))
    tile(softmaxes(least, Decisions()), vocabulary(), CpsatTiler(), Decisions())
    assert error_of(least - 8, Decisions()).code == "TW5102"


def test_a_pin_is_named_and_its_removal_offered() -> None:
    pins = Decisions(memories={"y": "l1"})
    error = error_of(7000, pins)
    text = str(error)
    assert "'y', pinned to 'l1'" in text and "6,400 B" in text
    assert any("remove the pin of 'y'" in line for line in error.fix)
    tile(softmaxes(7000, Decisions()), vocabulary(), CpsatTiler(), Decisions())


def test_a_pin_that_is_too_large_alone_is_named_alone() -> None:
    needed = [line for line in error_of(5000, Decisions(memories={"y": "l1"})).details if line.startswith("needed")]
    assert len(needed) == 1 and "'y', pinned" in needed[0]


@given(
    st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_no_demand_of_a_core_can_be_left_out(rows: Sequence[Sequence[int]], limit: int) -> None:
    demands = tuple(Demand(text=str(number), sizes=tuple(row)) for number, row in enumerate(rows))
    if fits(demands, limit):
        return
    core = minimal(demands, limit)
    assert not fits(core, limit)
    for demand in core:
        assert fits([other for other in core if other is not demand], limit)
