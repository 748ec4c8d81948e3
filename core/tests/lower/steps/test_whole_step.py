"""A step in one piece: its variables, and the one call of its kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from row_networks import on_one_memory
from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.emit.ctree import print_body
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.statements import Declare, KernelCall, KernelWait
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.lower.operands.addresses import address_book, members_of
from tilewright.lower.steps.whole_step import Lowered, lower_step
from tilewright.testing.one_step import vocabulary, with_kernel
from tilewright.testing.sketch import Sketch
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile


def lowered(toy: Any, plan: Allocated, index: int = 1, total: int = 4) -> Lowered:
    bound = plan.tiled.scheduled.bound
    step = plan.tiled.scheduled.steps[index]
    node = next(one for one in bound.graph.nodes if one.name == step.name)
    book = address_book(plan, members_of(bound.graph, "toy"))
    return lower_step(index, step, node, book, toy.operators, "toy", total)


def rebound(toy: Any, plan: Allocated, node: str, **changes: Any) -> Allocated:
    bound = with_kernel(plan.tiled.scheduled.bound, node, **changes)
    return replace(plan, tiled=replace(plan.tiled, scheduled=replace(plan.tiled.scheduled, bound=bound)))


def test_pointers_to_operands_and_scratch_then_the_call(toy: Any) -> None:
    found = lowered(toy, toy.plan(toy.graph()))
    *pointers, last = print_body(found.code.body, 0, ())
    assert [line.partition(" = ")[0] for line in pointers] == [
        "const int8_t *const x",
        "int8_t *const y",
        "uint8_t *const scratch",
    ]
    assert last == "tw_toy_reverse(10, x, y, scratch);"
    (call,) = (one for one in found.code.body if isinstance(one, KernelCall))
    assert [one.buffer for one in call.reads] == ["biased"]
    assert [(one.buffer, one.size_bytes) for one in call.writes] == [("turned", 10), ("/turn.scratch", 8)]
    assert [one.name for one in found.code.parameters] == ["ram"]


def test_a_pointer_is_to_the_first_element_that_is_read() -> None:
    """From the third row and the second column on: 2 x 8 + 1 floats."""
    sketch = Sketch(operators=vocabulary())
    part = {"starts": (2, 1), "steps": (2, 3), "shape": (2, 2)}
    y = sketch.node("Slice", (sketch.input("x", DType.F32, (6, 8)),), part, "part")
    machine = on_one_memory(sketch.finish(y))
    pins = Decisions()
    plan = allocate(tile(machine.scheduled, vocabulary(), WholeTiler(), pins), pins, BestFit(), Budget())
    pointer, *_ = lower(plan, vocabulary(), "net").steps[0].body
    assert isinstance(pointer, Declare)
    assert str(pointer.value) == f"(const float *)(ram + IN_X + {4 * (2 * 8 + 1)})"


def test_functions_are_numbered_in_as_many_digits_as_the_last(toy: Any) -> None:
    plan = toy.plan(toy.graph())
    assert lowered(toy, plan).code.function == "toy_1_toyreverse"
    assert lowered(toy, plan, total=11).code.function == "toy_01_toyreverse"
    assert lowered(toy, plan, total=10).code.function == "toy_1_toyreverse"


def test_only_variables_that_the_kernel_names_are_declared(toy: Any) -> None:
    plan = rebound(toy, toy.plan(toy.graph()), "/turn", call="other(${Y});")
    assert list(print_body(lowered(toy, plan).code.body, 0, ()))[1:] == ["other(y);"]


def test_an_asynchronous_kernel_is_waited_for(toy: Any) -> None:
    plan = rebound(toy, toy.plan(toy.graph()), "/turn", wait="finish(${Y});")
    *_, wait = lowered(toy, plan).code.body
    assert isinstance(wait, KernelWait) and str(wait.code) == "finish(y)"


def test_a_step_without_elements_has_no_code(toy: Any) -> None:
    graph = toy.graph()
    empty = {name: replace(one, shape=(1, 0)) for name, one in graph.tensors.items()}
    nothing = replace(graph, tensors=empty, constants={"b": np.zeros((1, 0), np.int8)})
    found = lowered(toy, toy.plan(nothing))
    assert (found.code.body, found.sources) == ((), ())
    assert empty["b"].dtype is DType.I8
