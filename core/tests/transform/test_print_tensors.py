"""The pass `print-tensors` on a tiled step, compiled and run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from team_run import build_team
from tilewright.allocate.best_fit import BestFit
from tilewright.builtin import tilewright_kernels, tilewright_operators, tilewright_tilers
from tilewright.emit import EmitOptions, emit
from tilewright.errors import TilewrightError
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.proposals.planner import Planner
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
def test_tensors_are_printed_where_asked(tmp_path: Path) -> None:
    everywhere = {"what": "inputs+outputs+constants"}
    printed = said(made(cluster(2048), ["print-tensors"], print_tensors=everywhere), tmp_path, cores=2)
    assert printed.startswith("x inputs of step 0 in l2: 0 1 2 3")
    assert "conv.W constants of step 0 in flash: 1 1" in printed
    assert "conv:0 outputs of step 0 in l2: 768 772" in printed
    assert "of a tile that arrived in l1" in printed
    assert "conv:0 of a tile that is complete in l1: 768" in printed


@pytest.mark.slow
def test_patterns_choose_names_and_memories(tmp_path: Path) -> None:
    chosen = {"tensors": "conv*", "memory": "l2"}
    printed = said(made(cluster(2048), ["print-tensors"], print_tensors=chosen), tmp_path).splitlines()
    assert [line.partition(":")[0] + ":" for line in printed] == ["conv:"]


def test_a_setting_that_is_not_there_is_refused() -> None:
    with pytest.raises(TilewrightError) as refused:
        made(cluster(2048), ["print-tensors"], print_tensors={"colour": "red"})
    assert refused.value.code == "TW1112"


def test_a_pass_that_is_not_there_is_refused() -> None:
    with pytest.raises(TilewrightError, match="print-tensors") as refused:
        made(cluster(2048), ["prnit-tensors"])
    assert refused.value.code == "TW1111"
