"""Views and in-place pairs share bytes only where that is right; lifetimes cover every use."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest
from counted import counted

from tilewright.bind import bind
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Buffer, Scheduled
from tilewright.ir.tensors.dtypes import DType
from tilewright.schedule import schedule
from tilewright.schedule.order import frugal_order, given_order
from tilewright.testing.one_step import with_kernel
from tilewright.testing.sketch import Sketch

NAMES = (
    "elementwise.clip",
    "convolution.conv",
    "movement.reshape",
    "movement.transpose",
    "movement.concat",
    "movement.slice",
    "elementwise.binary",
)
FAMILIES = [importlib.import_module(f"tilewright.operators.{name}") for name in NAMES]
OPERATORS = {operator.name: operator for family in FAMILIES for operator in family.OPERATORS}
KERNELS = {kernel.name: kernel for family in FAMILIES for kernel in family.KERNELS}
PLATFORM = Platform(name="bench", memories=(Memory(name="ram", size_bytes=None),))
NEAR = Memory(name="tcm", size_bytes=1024)
PAIR = (("X", "Y"),)
RELU = {"min": 0.0, "max": float("inf")}


def scheduled(graph: Graph, decisions: Decisions | None = None) -> Scheduled:
    decisions = decisions or Decisions()
    return schedule(bind(graph, PLATFORM, OPERATORS, KERNELS, decisions), OPERATORS, decisions)


def buffers(value: Scheduled) -> dict[str, Buffer]:
    return {buffer.name: buffer for buffer in value.buffers}


def start(shape: tuple[int, ...] = (4, 6)) -> tuple[Sketch, str]:
    """x, copied into a value of our own that steps may overwrite."""
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, shape)
    return sketch, sketch.node("Clip", [x], RELU, "own")


def test_a_reshape_is_no_step() -> None:
    sketch, own = start()
    flat = sketch.node("Reshape", [own], {"shape": (24,)}, "flat")
    out = sketch.node("Clip", [flat], RELU, "out")
    result = scheduled(sketch.finish(out))
    assert [step.name for step in result.steps] == ["own", "out"]
    assert result.storage["flat:0"] == result.storage["own:0"]


def test_a_reshape_of_the_input_that_is_the_output_must_copy() -> None:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (4, 6))
    flat = sketch.node("Reshape", [x], {"shape": (24,)}, "flat")
    result = scheduled(sketch.finish(flat))
    assert [step.name for step in result.steps] == ["flat"]
    assert result.storage["flat:0"].buffer != result.storage["x"].buffer


def test_concat_on_the_outer_axis_is_written_in_place_by_its_producers() -> None:
    sketch, own = start()
    other = sketch.node("Clip", ["x"], {"min": 0.0, "max": 1.0}, "other")
    joined = sketch.node("Concat", [own, other], {"axis": 0}, "joined")
    out = sketch.node("Clip", [joined], RELU, "out")
    result = scheduled(sketch.finish(out), Decisions(in_place={"out:0": ""}))
    assert "joined" not in [step.name for step in result.steps]
    assert result.storage["own:0"].offset_bytes == 0
    assert result.storage["other:0"].offset_bytes == 4 * 6 * 4
    assert result.storage["other:0"].buffer == result.storage["own:0"].buffer
    assert buffers(result)[result.storage["own:0"].buffer].size_bytes == 2 * 4 * 6 * 4


def test_concat_of_a_value_with_itself_copies() -> None:
    sketch, own = start()
    joined = sketch.node("Concat", [own, own], {"axis": 0}, "joined")
    result = scheduled(sketch.finish(joined))
    assert [step.name for step in result.steps] == ["own", "joined"]


def test_concat_on_an_inner_axis_copies() -> None:
    sketch, own = start()
    joined = sketch.node("Concat", [own, "x"], {"axis": 1}, "joined")
    assert "joined" in [step.name for step in scheduled(sketch.finish(joined)).steps]


def test_an_elementwise_step_overwrites_an_input_that_dies() -> None:
    sketch, own = start()
    middle = sketch.node("Clip", [own], {"min": 0.0, "max": 1.0}, "middle")
    result = scheduled(sketch.finish(middle))
    assert result.in_place == {"middle:0": "own:0"}
    assert len(result.buffers) == 2


def test_an_input_that_is_read_later_is_not_overwritten() -> None:
    sketch, own = start()
    middle = sketch.node("Clip", [own], {"min": 0.0, "max": 1.0}, "middle")
    total = sketch.node("Add", [middle, own], {}, "total")
    result = scheduled(sketch.finish(total))
    assert "middle:0" not in result.in_place


def test_a_value_that_is_read_later_through_a_view_is_not_overwritten() -> None:
    sketch, own = start()
    flat = sketch.node("Reshape", [own], {"shape": (24,)}, "flat")
    middle = sketch.node("Clip", [own], {"min": 0.0, "max": 1.0}, "middle")
    again = sketch.node("Reshape", [middle], {"shape": (24,)}, "again")
    total = sketch.node("Add", [again, flat], {}, "total")
    result = scheduled(sketch.finish(total))
    assert "middle:0" not in result.in_place


def test_graph_inputs_are_never_overwritten() -> None:
    sketch, own = start()
    assert scheduled(sketch.finish(own)).in_place == {}


def test_graph_outputs_are_never_overwritten() -> None:
    sketch, own = start()
    middle = sketch.node("Clip", [own], {"min": 0.0, "max": 1.0}, "middle")
    result = scheduled(sketch.finish(own, middle))
    assert result.in_place == {}


def test_tiles_overwrite_only_what_they_alone_read() -> None:
    """A kernel that reads neighbours, and may overwrite them where it computes everything in one call."""
    sketch, own = start((1, 2, 4, 4))
    w = sketch.constant(np.ones((2, 2, 3, 3), np.float32))
    windows = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}
    graph = sketch.finish(sketch.node("Conv", [own, w], windows, "middle"))
    bound = with_kernel(bind(graph, PLATFORM, OPERATORS, KERNELS, Decisions()), "middle", in_place=lambda site: PAIR)
    near = replace(bound, platform=replace(PLATFORM, memories=(*PLATFORM.memories, NEAR), inner="tcm"))
    assert schedule(bound, OPERATORS, Decisions()).in_place == {"middle:0": "own:0"}
    assert schedule(near, OPERATORS, Decisions()).in_place == {}


@pytest.mark.parametrize(("operands", "taken"), [("A", False), ("AB", True)])
def test_an_output_takes_no_bytes_that_another_operand_reads(operands: str, taken: bool) -> None:
    """Of x + x both are the same value; a kernel may be in place of either, or of one only."""
    sketch, own = start()
    graph = sketch.finish(sketch.node("Add", [own, own], {}, "twice"))
    pairs = tuple((operand, "Y") for operand in operands)
    bound = with_kernel(bind(graph, PLATFORM, OPERATORS, KERNELS, Decisions()), "twice", in_place=lambda site: pairs)
    assert schedule(bound, OPERATORS, Decisions()).in_place == ({"twice:0": "own:0"} if taken else {})


def test_parts_of_one_value_that_overlap_are_not_overwritten() -> None:
    sketch, own = start()
    parts = [
        sketch.node("Slice", [own], {"starts": (at, 0), "steps": (1, 1), "shape": (3, 6)}, f"part{at}") for at in (0, 1)
    ]
    result = scheduled(sketch.finish(sketch.node("Add", parts, {}, "sum")))
    assert {result.storage[part].buffer for part in parts} == {"own:0"}
    assert result.in_place == {}


def test_in_place_can_be_forbidden() -> None:
    sketch, own = start()
    middle = sketch.node("Clip", [own], {"min": 0.0, "max": 1.0}, "middle")
    assert scheduled(sketch.finish(middle), Decisions(in_place={"middle:0": ""})).in_place == {}


def test_lifetimes_reach_from_the_first_write_to_the_last_read() -> None:
    sketch, own = start()
    first = sketch.node("Clip", ["x"], {"min": 0.0, "max": 1.0}, "first")
    second = sketch.node("Add", [own, first], {}, "second")
    result = scheduled(sketch.finish(second), Decisions(in_place={"second:0": ""}))
    alive = {name: (buffer.first, buffer.last) for name, buffer in buffers(result).items()}
    assert alive == {"x": (0, 1), "own:0": (0, 2), "first:0": (1, 2), "second:0": (2, 2)}


def test_an_order_that_reads_too_early_is_refused() -> None:
    sketch, own = start()
    out = sketch.node("Clip", [own], RELU, "out")
    with pytest.raises(TilewrightError, match="before 'own:0' is written") as caught:
        scheduled(sketch.finish(out), Decisions(order=("out", "own")))
    assert caught.value.code == "TW1105"


def test_an_order_must_name_every_node() -> None:
    sketch, own = start()
    out = sketch.node("Clip", [own], RELU, "out")
    with pytest.raises(TilewrightError, match="does not name every node once"):
        scheduled(sketch.finish(out), Decisions(order=("own",)))


def test_the_frugal_order_finishes_one_branch_before_it_starts_the_next() -> None:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, 64))
    small = []
    for branch in range(3):
        wide = sketch.node("Concat", [x, x, x, x], {"axis": 0}, f"wide{branch}")
        small.append((branch, wide))
    thin = [
        sketch.node("Slice", [wide], {"starts": (0, branch), "steps": (1, 1), "shape": (1, 1)}, f"thin{branch}")
        for branch, wide in small
    ]
    joined = sketch.node("Concat", thin, {"axis": 0}, "joined")
    graph = sketch.finish(joined)
    assert given_order(graph)[:3] == ("wide0", "wide1", "wide2")
    assert frugal_order(graph)[:4] == ("wide0", "thin0", "wide1", "thin1")


def test_scheduling_twice_gives_the_same_value() -> None:
    sketch, own = start()
    out = sketch.node("Add", [own, own], {}, "out")
    graph = sketch.finish(out)
    assert scheduled(graph) == scheduled(replace(graph))
    assert np.array_equal(given_order(graph), ("own", "out"))


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "fan"])
def test_every_step_more_is_the_same_work(shape: str) -> None:
    sketch, own = start()
    values = [own]
    for index in range(1000):
        values.append(sketch.node("Clip", [values[-1] if shape == "chain" else own], RELU, f"s{index}"))
    while len(values) > 1 and shape == "fan":
        values = [sketch.node("Concat", values[at : at + 50], {"axis": 0}) for at in range(0, len(values), 50)]
    graph = sketch.finish(values[-1])
    order, for_order = counted(lambda: frugal_order(graph))
    schedule, for_schedule = counted(lambda: scheduled(graph))
    assert sorted(order) == sorted(given_order(graph))
    assert len(schedule.steps) > 950
    assert for_order < 100 * 1000 and for_schedule < 400 * 1000
