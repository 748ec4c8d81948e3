"""Flags that changed nothing about a plan are named, with the reason; the others are not."""

from __future__ import annotations

from typing import Any

import pytest

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, row_network
from tilewright.config.flag_conflicts import (
    CUTTING,
    decided_already,
    demand_same_border,
    demand_same_pools,
    demand_same_target,
    idle_flags,
)
from tilewright.config.memory_pools import PoolSpec
from tilewright.config.options import Options
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import vocabulary
from tilewright.tile.strategies import TILERS, StepTiler


def planned(platform: Platform = ONE_MEMORY, **asked: Any) -> Allocated:
    planner = portable_planner(**asked)
    answer = Fitting(planner=planner).plan(planner.bind(row_network(0, vocabulary()).graph, platform))
    assert isinstance(answer, Allocated)
    return answer


def said(plan: Allocated, **asked: Any) -> tuple[str, ...]:
    notes = tuple(idle_flags(plan, Options(**asked)))
    assert all((note.code, note.severity) == ("TW1123", "note") for note in notes)
    return tuple(line for note in notes for line in note.details)


@pytest.mark.slow
def test_flags_that_were_followed_are_not_named() -> None:
    assert not said(planned())
    assert not said(planned(optimize="ram", recompute=1.2), optimize="ram", recompute=1.2)


@pytest.mark.parametrize(
    ("asked", "begins", "reason"),
    [
        ({"buffering": "double"}, "--buffering double: ", "has no scratchpad"),
        ({"tiler": "min"}, "--tiler min: ", "has no scratchpad"),
        ({"recompute": 1.2}, "--recompute 1.2: ", "speed is asked for, and the plan fits"),
        ({"optimize": "ram"}, "--optimize ram: ", "no such plan takes less memory"),
        ({"optimize": "balanced"}, "--optimize balanced: ", "at most 10 % slower"),
        ({"optimize": "ram", "pins": Decisions(groups=(("a",),))}, "--optimize ram: ", "groups are pinned"),
    ],
)
def test_on_one_memory(asked: dict[str, Any], begins: str, reason: str) -> None:
    (line,) = said(planned(), **asked)  # by layers, as if rows had given nothing
    assert line.startswith(begins)
    assert reason in line


@pytest.mark.slow
def test_on_a_cluster() -> None:
    plan = planned(CLUSTER)
    assert not said(plan, buffering="double", tiler="min")
    rows = said(plan, optimize="ram", recompute=1.5)
    assert [line.split(":")[0] for line in rows] == ["--optimize ram", "--recompute 1.5"]
    assert all("is no machine with one memory and one core" in line for line in rows)


@pytest.mark.slow
def test_a_pin_of_a_value_that_passes_between_steps_that_run_as_one() -> None:
    plan = planned(CLUSTER)
    region = next(region for region in plan.tiled.regions if region.unmaterialised)
    value = region.unmaterialised[0]
    (note,) = idle_flags(plan, Options(), {value: "l2"})
    (line,) = note.details
    assert line.startswith(f"--pin {value}=l2: it is only in 'l1', tile by tile: steps {region.steps[0]}")
    assert note.fix[0].startswith("--groups 1 ")
    assert not tuple(idle_flags(plan, Options(), {value: "l1", region.name: "l2"}))  # kept; not a value
    assert not tuple(idle_flags(plan, Options(pins=Decisions(memories={value: "l2"})), {value: "l2"}))


def test_tilers_that_need_a_scratchpad_are_the_built_in_ones() -> None:
    assert {*CUTTING, "auto"} == {tiler.name for tiler in TILERS if isinstance(tiler, StepTiler)}
    assert not said(planned(), tiler="whole")  # it forbids rows
    assert not said(planned(), tiler="acme-tiler")  # who knows


SAVED = Platform(name="small", memories=(Memory(name="ram", size_bytes=64),))
GRAPH = Graph(
    name="net",
    inputs=("x",),
    outputs=("y",),
    nodes=(Node(name="n", op="N", inputs=("x",), outputs=("y",)),),
    tensors={name: Tensor(name=name, dtype=DType.F32, shape=(1,)) for name in ("x", "y")},
    constants={},
)


def test_what_it_was_made_for_is_not_refused() -> None:
    demand_same_target(SAVED, "small", Options(memory={"ram": 64}))
    demand_same_border(GRAPH, Options())


def test_all_that_contradicts_it_is_said() -> None:
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_target(SAVED, "large", Options(memory={"ram": 128}))
    assert len(caught.value.details) == 2


def test_its_inputs_and_outputs_keep_their_types() -> None:
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_border(GRAPH, Options(io_type_of={"y": "int8"}))
    with pytest.raises(TilewrightError, match="--io-layout y=nhwc: the state keeps its own"):
        demand_same_border(GRAPH, Options(io_layouts={"y": "nhwc"}))
    assert caught.value.details == ("--io-type: 'y' is f32",)


def test_pools_of_other_names_or_sizes_are_refused() -> None:
    demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram"),)))
    demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram", size_bytes=64),)))
    with pytest.raises(TilewrightError, match="TW1223") as caught:
        demand_same_pools(SAVED, Options(pools=(PoolSpec(name="ram", size_bytes=32), PoolSpec(name="fast"))))
    assert caught.value.details == ("--pool ram:32: it has 64", "--pool fast: it has no such memory")


def test_what_a_graph_has_decided_is_named_and_nothing_else() -> None:
    assert not tuple(decided_already(GRAPH, Options(optimize="ram", memory_pins=(("x", "ram"),))))
    (note,) = decided_already(GRAPH, Options(dims={"N": 1}, bind={"x": "0"}, optimize="ram"))
    assert (note.code, note.severity) == ("TW1227", "note")
    assert note.message.endswith("--dim, --bind")
