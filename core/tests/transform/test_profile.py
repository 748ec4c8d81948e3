"""The pass `profile` on a tiled step and on steps in one piece, compiled and run."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import each_compiler

from team_run import build_team
from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels, tilewright_operators, tilewright_tilers
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
from tilewright.runners.toolchain import Compiler
from tilewright.testing.cluster import cluster
from tilewright.testing.sketch import Sketch
from tilewright.transform import HOOKS, LIFETIMES, PRINT_TENSORS, PROFILE, transform

OPERATORS = {operator.name: operator for operator in tilewright_operators()}
KERNELS = {kernel.name: kernel for kernel in tilewright_kernels()}
TILERS = {tiler.name: tiler for tiler in tilewright_tilers()}
PASSES = (HOOKS, LIFETIMES, PRINT_TENSORS, PROFILE)
CLOCK = """
#include <stdio.h>
static uint32_t now(void)
{
    static uint32_t time;
    return time += 10u;
}
#define TW_CLOCK() now()
#define TW_CYCLES(step, tile, activity, cycles) \\
    fprintf(stderr, "%d %d %d %u\\n", (int)(step), (int)(tile), (int)(activity), (unsigned)(cycles))
"""


def graph() -> Graph:
    sketch = Sketch(operators=OPERATORS)
    x = sketch.input("x", DType.F32, (1, 4, 16, 8))
    weights = sketch.constant(np.ones((8, 4, 1, 1), np.float32))
    windows = {"kernel_shape": (1, 1), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0}
    return sketch.finish(sketch.node("Conv", (x, weights), {**windows, "group": 1}, name="conv"))


def made(platform: Platform, wanted: Sequence[str], **settings: dict[str, str]) -> Program:
    tiler = TILERS["auto"]
    planner = Planner(operators=OPERATORS, kernels=KERNELS, tiler=tiler, allocator=BestFit(), pins=Decisions())
    program = lower(planner.plan(planner.bind(graph(), platform)), OPERATORS, "net")
    given = {name.replace("_", "-"): value for name, value in settings.items()}
    return transform(program, PASSES, wanted, given)


def said(program: Program, folder: Path, **how: Any) -> str:
    """What the program prints on stderr, printing and profiles."""
    (folder / "clock.h").write_text(CLOCK)
    (folder / "print.h").write_text("#include <stdio.h>\n#define TW_PRINT(...) fprintf(stderr, __VA_ARGS__)\n")
    headers = ('-DTW_PROFILE_HEADER="clock.h"', '-DTW_PRINT_HEADER="print.h"')
    team = build_team(emit(program, EmitOptions(generator="tilewright 0")), program, folder, flags=headers, **how)
    x = np.arange(512, dtype=np.float32).tobytes()
    return subprocess.run([str(team)], input=x, check=True, capture_output=True).stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("compiler", each_compiler(), ids=lambda compiler: compiler.name)
def test_a_profile_adds_up(tmp_path: Path, compiler: Compiler) -> None:
    program = made(cluster(2048), ["profile"])
    printed = said(program, tmp_path, compiler=shlex.join(compiler.command))
    lines = [tuple(map(int, line.split())) for line in printed.splitlines()]
    tiles = {tile for _, tile, _, _ in lines if tile >= 0}
    assert len(tiles) > 1
    for activity in range(4):
        parts = sum(cycles for _, tile, kind, cycles in lines if kind == activity and tile >= 0)
        (whole,) = (cycles for _, tile, kind, cycles in lines if kind == activity and tile == -1)
        assert 0 < parts <= whole
    assert program.pools == made(cluster(2048), []).pools


def test_steps_in_one_piece_are_profiled_too(toy: Any) -> None:
    text = toy.artifact(toy.program(toy.graph()), wanted=("profile",), passes=(PROFILE,)).files["toy.c"].decode()
    assert text.count("tw_spent(&profile, TW_COMPUTE);") == 4
    assert "tw_rt_" not in text
