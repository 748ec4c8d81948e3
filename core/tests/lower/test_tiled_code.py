"""One tiny tiled convolution, as the generator writes it: reviewed like code that somebody wrote by hand.

`python tools/regenerate.py golden` writes it anew: review the difference.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels, tilewright_operators
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.region import Copy, Cut, Hop, Region, Tiles
from tilewright.ir.plans.stages import Group
from tilewright.ir.plans.tiler import TilingRequest
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.testing.cluster import cluster
from tilewright.testing.sketch import Sketch
from tilewright.transform import HOOKS, LIFETIMES, transform

GOLDEN = Path(__file__).parent.parent / "golden" / "tiled"
OPERATORS = {operator.name: operator for operator in tilewright_operators()}
KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}
TILE = Region(
    steps=("conv",),
    schedule=Tiles(
        hops=(
            Hop(
                outer="l2",
                inner="l1",
                nest=(Cut("o", 4), Cut("h", 3)),
                copies={
                    "conv.X": Copy(level=2, buffers=2),
                    "conv.W": Copy(level=1, buffers=1),
                    "conv.Y": Copy(level=2, buffers=2),
                },
            ),
        )
    ),
)


class FixedTiler:
    """The tiling above."""

    name, summary = "fixed", ""

    def plan(self, request: TilingRequest) -> tuple[Group, ...]:
        return (Group(region=TILE),)


def convolution() -> Graph:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, 2, 8, 6))
    numbers = np.arange(8 * 2 * 3 * 3, dtype=np.float32).reshape(8, 2, 3, 3) / 16
    pads = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "ceil_mode": 0}
    weights, bias = sketch.constant(numbers), sketch.constant(np.ones(8, np.float32))
    return sketch.finish(sketch.node("Conv", (x, weights, bias), {**pads, "group": 1}, name="conv"))


def tiled() -> Program:
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=FixedTiler(), allocator=BestFit(), pins=Decisions())
    return lower(planner.plan(planner.bind(convolution(), cluster())), OPERATORS, "net")


def steps_text(program: Program) -> str:
    content = emit(program, EmitOptions(generator="tilewright 0")).files["net.c"].decode()
    found = re.search(r"/\* ---- steps ---- \*/\n(.*)\n/\* ---- interface ---- \*/", content, re.S)
    if not found:
        raise ValueError("the file has no steps")
    return found[1].strip("\n") + "\n"


def test_the_step_is_as_reviewed() -> None:
    for name, wanted in (("step.c", ()), ("step_lifetimes.c", ("lifetimes",))):
        text = steps_text(transform(tiled(), (HOOKS, LIFETIMES), wanted))
        if os.environ.get("UPDATE_GOLDEN"):
            GOLDEN.mkdir(exist_ok=True)
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text(), name


def test_no_line_is_too_long() -> None:
    assert all(len(line) <= 130 for path in GOLDEN.iterdir() for line in path.read_text().split("\n"))


def test_the_runtime_header_comes_along() -> None:
    program = tiled()
    files = emit(program, EmitOptions(generator="tilewright 0")).files
    assert program.team
    assert b"tw_rt_barrier" in files["tw_rt.h"]
    assert b'#include "tw_rt.h"' in files["net.c"]
