"""Operands are what the access says: padding is counted, what is never read is left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tilewright.allocate import allocate
from tilewright.allocate.best_fit import BestFit
from tilewright.bind import bind
from tilewright.ir.access.index_map import parse_map
from tilewright.ir.graphs.graph import Graph, Node, Tensor
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.plans.allocation import Budget
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.statements import Declare, KernelCall
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.schedule import schedule
from tilewright.tile.strategies import WholeTiler
from tilewright.tile.tile import tile


def call_text(toy: Any, text: str, x: int, y: int) -> str:
    """The call of a one-step network whose kernel has that index map over X[x] and Y[y]."""
    operator = replace(
        toy.operators["ToyHalf"],
        name="Toy",
        access=lambda site: parse_map(text).bind({"X": site.input(0).shape, "Y": site.output.shape}),
    )
    kernel = Kernel(
        name="portable.toy",
        op="Toy",
        values=lambda call: {name: getattr(call.operands["X"], name)[0] for name in ("before", "after", "extents")},
        call="toy(${X}, ${extents}, ${before}, ${after});",
    )
    tensors = {name: Tensor(name=name, dtype=DType.F32, shape=(extent,)) for name, extent in (("x", x), ("y", y))}
    node = Node(name="n", op="Toy", inputs=("x",), outputs=("y",))
    graph = Graph(name="g", inputs=("x",), outputs=("y",), nodes=(node,), tensors=tensors, constants={})
    pins = Decisions(offsets={"x": 64, "y": 0})
    operators = {"Toy": operator}
    bound = bind(graph, toy.platform, operators, {kernel.name: kernel}, pins)
    tiled = tile(schedule(bound, operators, pins), operators, WholeTiler(), pins)
    program = lower(allocate(tiled, pins, BestFit(), Budget()), operators, "net")
    pointer, call = program.steps[0].body
    assert isinstance(pointer, Declare)
    assert isinstance(call, KernelCall)
    return f"{pointer.value}: {call.code}"


def test_padding_is_counted(toy: Any) -> None:
    assert call_text(toy, "i k<3 : X[i+k-1?] -> Y[i]", 8, 8) == "(const float *)(ram + IN_X): toy(x, 8, 1, 1)"


def test_what_is_never_read_is_skipped(toy: Any) -> None:
    assert call_text(toy, "i : X[i+2] -> Y[i]", 8, 4) == "(const float *)(ram + IN_X + 8): toy(x, 4, 0, 0)"
