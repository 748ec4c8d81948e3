"""Outputs that are taken in rows, on this machine under sanitizers: however many are taken at once, with inputs that
arrive in rows or are there whole, they are what the reference says; wrong calls have a status and change nothing.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from portable_plans import portable_planner
from reference_runs import demand_reference, hooked_program
from row_networks import ONE_MEMORY, RowNetwork, row_network
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import PortRows
from tilewright.ir.programs.runner import Job
from tilewright.ir.tensors.dtypes import DType
from tilewright.lower import lower
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.runners.host import SANITIZE, STRICT, HostRunner
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 14))]
WAYS: tuple[tuple[IoOwner, Optimize], ...] = (("push", "ram"), ("pool", "ram"), ("user", "speed"), ("push", "speed"))


def planned(network: RowNetwork, of_input: IoOwner, optimize: Optimize, of_output: IoOwner = "pull") -> Allocated:
    """Input `x`, and the first output; others are in the plan."""
    ends: dict[str, IoOwner] = {"x": of_input, network.graph.outputs[0]: of_output}
    planner = portable_planner(pins=Decisions(io=ends), optimize=optimize)
    passing = {name: whose for name, whose in ends.items() if whose in ("push", "pull")}
    return Fitting(planner=planner).plan(planner.bind(with_streamed_io(network.graph, passing), ONE_MEMORY))


@cache
def image_network(channels: int = 2, spatial: tuple[int, ...] = (16, 5)) -> RowNetwork:
    """Three convolutions, a shortcut around them, and a sum over the image beside it."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, channels, *spatial))
    w = sketch.constant(
        np.random.default_rng(0).integers(-1, 2, (channels, channels, *(3,) * len(spatial))).astype(np.float32)
    )
    ones = (1,) * len(spatial)
    same = {"kernel_shape": (3,) * len(spatial), "strides": ones, "dilations": ones, "pads": ones * 2, "group": 1}
    y = x
    for _ in range(3):
        y = sketch.node("Conv", (y, w), same)
    y = sketch.node("Add", (y, x))
    total = sketch.node("ReduceSum", (y,), {"axes": tuple(range(2, 2 + len(spatial))), "keepdims": 0})
    feeds = np.random.default_rng(1).integers(-2, 3, (1, channels, *spatial)).astype(np.float32)
    return RowNetwork(graph=sketch.finish(y, total), feeds={"x": feeds})


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_networks_give_the_references_outputs(seed: int, tmp_path: Path) -> None:
    network = row_network(seed, vocabulary())
    demand_reference(planned(network, *WAYS[seed % len(WAYS)]), network.feeds, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids="-".join)
@pytest.mark.parametrize("spatial", [(16, 5), (40,)], ids=str)
def test_an_output_beside_one_that_is_whole(
    way: tuple[IoOwner, Optimize], spatial: tuple[int, ...], tmp_path: Path
) -> None:
    network = image_network(2, spatial)
    demand_reference(planned(network, *way), network.feeds, tmp_path)


def test_the_output_is_nowhere_whole() -> None:
    """A row is one line of each of two planes of five floats."""
    network = image_network()
    plan = planned(network, "push", "ram")
    (output, total) = lower(plan, vocabulary(), "net").outputs
    assert output.rows and output.rows.size_bytes == 2 * 20 and output.pool == "" and output.align == 1
    assert total.rows is None and total.pool
    assert network.graph.outputs[0] not in plan.placements
    with_output = planned(network, "push", "ram", "pool")
    assert ram_bytes(plan) <= ram_bytes(with_output) - output.rows.size_bytes * 8


@pytest.mark.slow
def test_a_value_that_is_made_at_once_is_given_in_rows(tmp_path: Path) -> None:
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 12))
    graph = sketch.finish(sketch.node("Softmax", (x,), {"axis": 1}))
    network = RowNetwork(graph=graph, feeds={"x": np.zeros((1, 12), np.float32)})
    plan = planned(network, "push", "ram")
    assert lower(plan, vocabulary(), "net").outputs[0].rows == PortRows(count=12, blocks=1, piece_bytes=4, step=2)
    demand_reference(plan, network.feeds, tmp_path)


@pytest.mark.slow
def test_what_an_output_only_shows_is_compared_as_the_output(tmp_path: Path) -> None:
    """The Departure is before a Reshape: what it gives is in the caller's memory, and there when all rows are taken."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 2, 4, 4))
    total = sketch.node("ReduceSum", (x,), {"axes": (2, 3), "keepdims": 1})
    graph = sketch.finish(sketch.node("Reshape", (total,), {"shape": (1, 2)}))
    network = RowNetwork(graph=graph, feeds={"x": np.ones((1, 2, 4, 4), np.float32)})
    plan = planned(network, "user", "ram")
    artifact = emit(hooked_program(plan), EmitOptions(const_format="c"))
    job = Job(artifact=artifact, plan=plan, prefix="net", input_sets=(network.feeds,), trace=True)
    ran = HostRunner().run(job, tmp_path)
    departed = {node.outputs[0] for node in plan.tiled.scheduled.bound.graph.nodes if node.op == "Departure"}
    assert departed and departed.isdisjoint(ran.values[0])
    np.testing.assert_array_equal(ran.outputs[0][graph.outputs[0]], [[16, 16]])


MAIN = """
#include "net.h"
#include <stdio.h>
#include <string.h>

#define SAY(call) printf("%d ", (int)(call))

int main(void)
{
    static TW_ALIGNED(64) uint8_t ram[NET_POOL_RAM_SIZE];
    static float x[NET_IN_X_ELEMENTS], whole[OUT_ELEMENTS], rows[OUT_ELEMENTS], total[2];
    const net_pools pools = {ram};
    net_inputs inputs = {x};
    net_outputs outputs = {whole, total}, none = {NULL, total};
    net_ctx ctx;
    uint32_t pushed = 0u, pulled = 0u;
    tw_status status;
    for (uint32_t i = 0u; i < NET_IN_X_ELEMENTS; ++i) {
        x[i] = (float)(i % 5u);
    }
    SAY(net_init(&ctx, &pools, NULL, NULL, NULL));
    SAY(PULL(&ctx, rows, 1u));                       /* before the beginning */
    SAY(net_run(&ctx, &inputs, &none));              /* no room for the output */
    SAY(status = net_begin(&ctx, NULL, &none));
    SAY(PULL(&ctx, rows, 1u));                       /* nothing is ready */
    SAY(PULL(&ctx, NULL, 1u));
    SAY(PULL(&ctx, rows, OUT_ROWS + 1u));
    SAY(PULL(&ctx, rows, 0u));
    while (status == TW_MORE || status == TW_READY) {
        if (status == TW_MORE) {
            status = net_push_x(&ctx, x + (size_t)pushed++ * NET_IN_X_ROW_ELEMENTS, 1u);
            continue;
        }
        if (pulled == 0u) {
            SAY(net_push_x(&ctx, x, 1u));            /* rows of the output come first */
            SAY(net_push_x(&ctx, x, 0u));
            SAY(net_run(&ctx, &inputs, &outputs));
        }
        status = PULL(&ctx, rows + (size_t)pulled++ * OUT_ROW_ELEMENTS, 1u);
    }
    SAY(status);
    SAY(net_pushed_x(&ctx) == NET_IN_X_ROWS && PULLED(&ctx) == OUT_ROWS && pulled == OUT_ROWS);
    SAY(PULL(&ctx, rows, 1u));                       /* after the end */
    SAY(net_push_x(&ctx, x, 1u));
    SAY(PULL(&ctx, rows, 0u));
    SAY(net_run(&ctx, &inputs, &outputs));
    SAY(memcmp(rows, whole, sizeof rows) == 0);
    SAY(net_begin(&ctx, NULL, &none));               /* all of both at once */
    SAY(net_push_x(&ctx, x, NET_IN_X_ROWS));
    SAY(net_pushed_x(&ctx) < NET_IN_X_ROWS && PULLED(&ctx) == 0u);
    SAY(PULL(&ctx, rows, OUT_ROWS));
    SAY(PULLED(&ctx) > 0u && PULLED(&ctx) < OUT_ROWS);
    return 0;
}
"""


@pytest.mark.slow
def test_wrong_calls_change_nothing(tmp_path: Path) -> None:
    network = image_network(1)
    made = hooked_program(planned(network, "push", "ram"))
    artifact = emit(made, EmitOptions(const_format="c"))
    for name, content in artifact.files.items():
        (tmp_path / name).write_bytes(content)
    member = made.outputs[0].member
    defined = [f"-D{verb.upper()}=net_{verb}_{member}" for verb in ("pull", "pulled")]
    defined += [f"-DOUT_{word}=NET_OUT_{member.upper()}_{word}" for word in ("ELEMENTS", "ROWS", "ROW_ELEMENTS")]
    (tmp_path / "main.c").write_text(MAIN, encoding="ascii")
    sources = sorted(name for name in artifact.files if name.endswith(".c") and name != "net_simple.c")
    command = [*find_compiler().command, *STRICT, *SANITIZE, *defined, "-I.", "-o", "main", "main.c", *sources, "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
    ran = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=60)
    before, between, after = "0 -4 -1 1 3 -1 -8 1", "3 2 -4", "0 1 -8 -8 0 0 1"
    assert ran.stdout.split() == f"{before} {between} {after} 1 2 1 1 1".split()
