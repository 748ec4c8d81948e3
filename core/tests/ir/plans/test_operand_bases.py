"""Which buffers a program reaches from one pointer, and that generated code has that many."""

from __future__ import annotations

from dataclasses import replace

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Memory, Platform
from tilewright.ir.plans.operand_bases import bases_of
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower.operands.addresses import address_book, members_of
from tilewright.testing.cluster import registry_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

BOARD = Platform(name="board", memories=(Memory(name="ram", size_bytes=None), Memory(name="tcm", size_bytes=None)))


def planned(options: Options, platform: Platform = BOARD) -> Allocated:
    sketch = Sketch(operators=vocabulary())
    turned = sketch.node("Neg", (sketch.input("x", DType.F32, (4, 6)),), name="turn")
    plan = Deployment(b"", "board", options, registry_for(platform))
    plan._given[Graph] = sketch.finish(sketch.node("Tanh", (turned,), name="last"))
    return plan.allocated


def test_buffers_of_one_pool_are_one_base() -> None:
    plan = planned(Options())
    names = [buffer.name for buffer in plan.tiled.buffers]
    assert {*bases_of(names, plan).values()} == {0}


def test_the_callers_tensors_are_one_each_and_numbered_as_they_are_asked_for() -> None:
    plan = planned(Options(io_inputs="user", io_outputs="user"))
    (x, y) = [buffer.name for buffer in plan.tiled.buffers if buffer.name not in plan.placements]
    assert bases_of([y, x, y], plan) == {y: 0, x: 1}


def test_an_application_places_each_buffer_for_itself() -> None:
    managed = tuple(replace(memory, managed_by="application") for memory in BOARD.memories)
    plan = planned(Options(), replace(BOARD, memories=managed))
    names = [buffer.name for buffer in plan.tiled.buffers]
    assert len({*bases_of(names, plan).values()}) == len(names)


def test_there_is_one_for_each_pointer_of_the_program() -> None:
    for options in (Options(), Options(io_inputs="user"), Options(io_inputs="user", io_outputs="user")):
        plan = planned(options)
        book = address_book(plan, members_of(plan.tiled.scheduled.bound.graph, "net"))
        names = [buffer.name for buffer in plan.tiled.buffers]
        pointers = {name: book.of_buffer(name).parameter.name for name in names}
        numbers = bases_of(names, plan)
        pairs = {(numbers[name], pointers[name]) for name in names}
        assert len(pairs) == len({*numbers.values()}) == len({*pointers.values()})
