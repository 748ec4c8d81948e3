"""Which steps can be one region, how their values pass, and why others cannot."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tilewright.bind import bind
from tilewright.ir.access.index_map import parse_map
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy
from tilewright.ir.plans.stages import Storage
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import portable_kernels, vocabulary, with_kernel
from tilewright.testing.sketch import Sketch
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.memory_path import HopMemories
from tilewright.tile.space.fusion import (
    InnerReader,
    RegionAnalysis,
    StepAnalyses,
    StepCallCache,
    region_analysis,
    rises,
    single_step_analysis,
    whole_hops,
)
from tilewright.tile.space.step_spaces import step_space

Last = Callable[[Sketch, str, str], str]


def machine(last: Last, *, keep: tuple[str, ...] = (), platform: Platform = CLUSTER) -> ScheduledMachine:
    """Two clips of 4 x 6 floats, and what `last` makes of the input and of the second one. `keep` are outputs, too."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (4, 6))
    a = sketch.node("Clip", (x,), {"min": 0.0}, "a")
    b = sketch.node("Clip", (a,), {"max": 4.0}, "b")
    y = last(sketch, x, b)
    bound = bind(sketch.finish(*keep, y), platform, vocabulary(), portable_kernels(), Decisions())
    apart = Decisions(in_place={"a:0": "", "b:0": "", y: ""})
    return ScheduledMachine(schedule(bound, vocabulary(), apart), vocabulary(), Decisions())


def added(sketch: Sketch, x: str, b: str) -> str:
    return sketch.node("Add", (x, b), name="c")


def together(made: ScheduledMachine, first: int = 0, count: int = 3) -> RegionAnalysis | str:
    return region_analysis(made, first, made.scheduled.steps[first : first + count])


def sound(made: ScheduledMachine) -> RegionAnalysis:
    found = together(made)
    assert isinstance(found, RegionAnalysis), found
    return found


def test_values_pass_from_step_to_step_and_are_not_copied() -> None:
    found = sound(machine(added))
    a, b, c = found.members
    assert found.inner == ("a:0", "b:0")
    assert (a.readers, b.readers, c.readers) == (
        (InnerReader(member=1, operand="X"),),
        (InnerReader(member=2, operand="B"),),
        (),
    )
    assert (a.inside, b.inside, c.inside) == ({}, {"X": 0}, {"B": 1})
    assert [[item.name for item in one.space.copied] for one in found.members] == [["X"], [], ["A", "Y"]]
    assert [one.space.spared_bytes for one in found.members] == [96, 192, 96]
    assert [one.live_out for one in found.members] == [False, False, True]


def test_a_value_that_two_steps_read_crosses_once() -> None:
    crossing = [(member.step.name, item.name) for member, item in sound(machine(added)).crossing(0)]
    assert crossing == [("a", "X"), ("c", "Y")]


def test_what_is_needed_outside_leaves() -> None:
    found = sound(machine(added, keep=("a:0",)))
    assert [one.live_out for one in found.members] == [True, False, True]
    assert [item.name for item in found.members[0].space.copied] == ["X", "Y"]
    first = together(machine(added), count=2)
    assert isinstance(first, RegionAnalysis)
    assert [one.live_out for one in first.members] == [False, True], "the last one's is read by the next step"


def test_outer_hops_copy_everything_whole() -> None:
    found = replace(
        sound(machine(added)), hops=(HopMemories(outer="l3", inner="l2"), HopMemories(outer="l2", inner="l1"))
    )
    (outer,) = whole_hops(found)
    assert (outer.outer, outer.inner, outer.nest) == ("l3", "l2", ())
    assert outer.copies == {"a.X": Copy(level=0), "c.Y": Copy(level=0)}


def reversed_rows(sketch: Sketch, x: str, b: str) -> str:
    return sketch.node("Slice", (b,), {"starts": (3, 0), "steps": (-1, 1), "shape": (4, 6)}, "c")


def softmax_then_sum(sketch: Sketch, x: str, b: str) -> str:
    return sketch.node("Add", (x, x), name="c")


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (reversed_rows, "step 'c': it reads X with an index that does not rise with its loops"),
        (softmax_then_sum, "step 'b': no step of the group reads 'b:0'"),
    ],
)
def test_why_steps_are_no_region(last: Last, reason: str) -> None:
    assert together(machine(last, keep=("b:0",))) == reason


def test_one_memory_has_no_region_of_several() -> None:
    one = replace(CLUSTER, inner="", copies=())
    assert "only where values can stay in a scratchpad" in str(together(machine(added, platform=one)))


def test_kernels_that_want_a_value_elsewhere_are_not_fused() -> None:
    made = machine(added)
    bound = with_kernel(made.bound, "c", memories={"B": ("l2",)})
    elsewhere = ScheduledMachine(replace(made.scheduled, bound=bound), vocabulary(), Decisions())
    assert together(elsewhere) == "step 'b': 'c' wants 'b:0' in another memory than 'l1'"


def test_windows_that_are_no_map_are_not_fused() -> None:
    made = machine(added)
    whole = made.bound.layers["b"].access
    bound = with_kernel(made.bound, "b", access=lambda site: Opaque(whole))
    opaque = ScheduledMachine(replace(made.scheduled, bound=bound), vocabulary(), Decisions())
    assert together(opaque) == "step 'b': its windows are no index map"


class Opaque:
    """An access of which nothing is known but its windows."""

    def __init__(self, of: Any) -> None:
        self.loops, self.inputs, self.outputs, self.window = of.loops, of.inputs, of.outputs, of.window


def test_an_output_over_what_the_region_reads_or_writes_is_a_conflict() -> None:
    made = machine(added, keep=("a:0",))

    def shared(value: str, buffer: str) -> str:
        storage = {**made.scheduled.storage, value: Storage(buffer=buffer)}
        return str(together(ScheduledMachine(replace(made.scheduled, storage=storage), vocabulary(), Decisions())))

    assert shared("c:0", "x") == "the output 'c:0' takes the bytes of 'x', which the group reads"
    assert shared("c:0", "a:0") == "the outputs 'a:0' and 'c:0' share bytes"


def test_room_is_that_of_all_steps_less_what_is_taken() -> None:
    limited = machine(added)
    free = limited.available_bytes("l1", 0)
    assert free is not None and sound(limited).rooms == (free,)
    less = region_analysis(limited, 0, limited.scheduled.steps, taken={"l1": 100})
    assert isinstance(less, RegionAnalysis) and less.rooms == (free - 100,)


def test_a_step_is_analysed_once_for_the_same_resident_operands() -> None:
    analyses = StepAnalyses(machine(added))
    plain = analyses.at(1)
    assert analyses.at(1, {"x": "l1"}) is plain, "it does not touch x"
    there = analyses.at(1, {"a:0": "l1"})
    assert there is not plain and analyses.at(1, {"a:0": "l1"}) is there
    assert [item.name for item in there.spaces[-1].copied] == ["Y"]


def test_what_is_known_of_calls_is_that_of_all_steps_whose_calls_are_alike() -> None:
    calls: dict[Hashable, StepCallCache] = {}
    ours, others = (StepAnalyses(machine(added), calls=calls) for _ in range(2))
    assert others.at(1).calls is ours.at(1).calls
    assert others.at(1, {"a:0": "l1"}).calls is ours.at(1).calls, "wherever operands are"
    assert StepAnalyses(machine(added)).at(1).calls is not ours.at(1).calls


def test_a_step_alone_has_every_operand_outside() -> None:
    made = machine(added)
    space = step_space(made, 1, made.scheduled.steps[1], "l1")
    found = single_step_analysis(made, 1, made.hops, [space])
    assert (found.sink.step.name, found.inner, found.sink.live_out) == ("b", (), True)
    assert found.rooms == (space.available_bytes,)


@pytest.mark.parametrize(
    ("index", "forward"),
    [
        ("i", True),
        ("2*i+3", True),
        ("i//2", True),
        ("clamp(i, 1, 3)", True),
        (":", True),
        ("3-i", False),
        ("i%2", False),
    ],
)
def test_later_trips_mean_later_positions(index: str, forward: bool) -> None:
    access = parse_map(f"i : X[{index}?] -> Y[i]" if index != ":" else "i : X[:] -> Y[i]").bind({"X": (9,), "Y": (4,)})
    assert rises(access.axes["X"][0].index) is forward


def test_fusion_stops_at_what_computes_nothing() -> None:
    sketch = Sketch(operators=vocabulary())
    a = sketch.node("Clip", (sketch.input("x", DType.F32, (0, 6)),), {"min": 0.0}, "a")
    graph = sketch.finish(sketch.node("Clip", (a,), {"max": 1.0}, "b"))
    bound = bind(graph, CLUSTER, vocabulary(), portable_kernels(), Decisions())
    made = ScheduledMachine(schedule(bound, vocabulary(), Decisions(in_place={"b:0": ""})), vocabulary(), Decisions())
    assert np.prod(bound.graph.tensors["a:0"].shape) == 0
    assert together(made, count=2) == "step 'a': it computes nothing"
