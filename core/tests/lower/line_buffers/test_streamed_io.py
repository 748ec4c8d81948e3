"""Inputs that arrive in rows, on this machine under sanitizers: whatever is handed over at once, every output is what
the reference says, and calls that are wrong have a status and change nothing.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portable_plans import portable_planner
from row_networks import ONE_MEMORY, RowNetwork, row_network
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import Port, PortRows, Program
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.rewrite.insert_streamed_io import with_arrival
from tilewright.runners.host import SANITIZE, STRICT, HostRunner
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.one_step import vocabulary
from tilewright.transform import HOOKS, transform

SEEDS = range(8)
BUILT = [*SEEDS[:4], *(pytest.param(seed, marks=pytest.mark.long) for seed in SEEDS[4:])]  # as C, with sanitizers
MAIN = """
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* net ROWS...: inputs.bin holds the rows one after the other; outputs go to outputs.bin, each status is printed. */
int main(int argc, char **argv)
{
    net_ctx ctx;
    net_pools pools;
    static uint8_t rows[NET_IN_X_SIZE];
    net_inputs whole = {(const float *)(const void *)rows};
    net_outputs outputs;
    FILE *file = fopen("inputs.bin", "rb");
    size_t at = 0;
    memset(&outputs, 0, sizeof outputs);
    if (file == NULL || fread(rows, 1, sizeof rows, file) != sizeof rows) {
        return 9;
    }
    fclose(file);
    pools.ram = aligned_alloc(64, (NET_POOL_RAM_SIZE + 63u) / 64u * 64u);
    if (pools.ram == NULL || net_init(&ctx, &pools, NULL, NULL, NULL) != TW_OK) {
        return 8;
    }
    printf("%d\\n", (int)net_push_x(&ctx, (const float *)(const void *)rows, 1u));
    printf("%d\\n", (int)net_begin(&ctx, NULL, OUTPUTS));
    printf("%d\\n", (int)net_run(&ctx, &whole, OUTPUTS));
    printf("%d\\n", (int)net_push_x(&ctx, NULL, 1u));
    printf("%d\\n", (int)net_push_x(&ctx, (const float *)(const void *)rows, NET_IN_X_ROWS + 1u));
    for (int i = 1; i < argc; ++i) {
        const size_t count = (size_t)atoi(argv[i]), bytes = count * NET_IN_X_ROW_SIZE;
        uint8_t *const chunk = malloc(bytes + 1u); /* of this size alone: no read beyond it passes the sanitizer */
        if (chunk == NULL) {
            return 7;
        }
        memcpy(chunk + 1, rows + at, bytes); /* at an odd address */
        printf("%d\\n", (int)net_push_x(&ctx, (const float *)(const void *)(chunk + 1), (uint32_t)count));
        memset(chunk, 0x5A, bytes + 1u);
        free(chunk);
        at += bytes;
    }
    printf("%d\\n", (int)net_push_x(&ctx, (const float *)(const void *)rows, 1u));
    file = fopen("outputs.bin", "wb");
    if (file == NULL) {
        return 6;
    }
WRITES
    free(pools.ram);
    return fclose(file);
}
"""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A network of which input `x` arrives in rows."""

    network: RowNetwork
    graph: Graph
    plan: Allocated
    program: Program

    @property
    def port(self) -> Port:
        return self.program.inputs[0]

    @property
    def rows(self) -> PortRows:
        assert self.port.rows is not None
        return self.port.rows

    def stream(self) -> bytes:
        """The input, row after row."""
        stored: npt.NDArray[np.generic] = self.network.feeds["x"].reshape(self.rows.blocks, self.rows.count, -1)
        return np.ascontiguousarray(stored.transpose(1, 0, 2)).tobytes()


def planned(graph: Graph, whose: IoOwner = "push", optimize: Optimize = "ram") -> Allocated:
    planner = portable_planner(pins=Decisions(io={"x": whose}), optimize=optimize)
    return Fitting(planner=planner).plan(planner.bind(graph, ONE_MEMORY))


@cache
def compiled(seed: int, optimize: Optimize = "ram") -> Compiled:
    network = row_network(seed, vocabulary())
    graph = with_arrival(network.graph, "x")
    plan = planned(graph, optimize=optimize)
    program = transform(lower(plan, vocabulary(), "net"), (HOOKS,), ("hooks",), {})
    return Compiled(network, graph, plan, program)


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrivals")


def built(made: Compiled, folder: Path) -> Path:
    """The program that pushes what its arguments say. In a folder of its own, once."""
    if (folder / "main").exists():
        return folder
    folder.mkdir()
    artifact = emit(made.program, EmitOptions(const_format="c"))
    for name, content in artifact.files.items():
        (folder / name).write_bytes(content)
    writes = "\n".join(
        f"    fwrite((const uint8_t *)pools.ram + {port.offset_bytes}, 1, {port.tensor.size_bytes}u, file);"
        for port in made.program.outputs
    )
    (folder / "main.c").write_text(MAIN.replace("WRITES", writes).replace("OUTPUTS", "&outputs"), encoding="ascii")
    (folder / "host_lifetimes.h").write_text("", encoding="ascii")
    (folder / "inputs.bin").write_bytes(made.stream())
    sources = sorted(name for name in artifact.files if name.endswith(".c") and name != "net_simple.c")
    command = [*find_compiler().command, *STRICT, *SANITIZE, "-I.", "-o", "main", "main.c", *sources, "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    return folder


def pushed(folder: Path, chunks: list[int]) -> list[int]:
    """What each call returned."""
    ran = subprocess.run(
        ["./main", *map(str, chunks)], cwd=folder, check=True, capture_output=True, text=True, timeout=60
    )
    return [int(line) for line in ran.stdout.split()]


def demand_right(made: Compiled, folder: Path) -> None:
    expected = run(made.network.graph, made.network.feeds, vocabulary())
    content, at = (folder / "outputs.bin").read_bytes(), 0
    for port in made.program.outputs:
        got = np.frombuffer(content, port.tensor.dtype.numpy, port.tensor.elements, at)
        np.testing.assert_array_equal(got.reshape(port.tensor.shape), expected[port.value])
        at += port.tensor.size_bytes


def chunks_of(rows: int) -> st.SearchStrategy[list[int]]:
    """Every way to cut so many rows."""
    cuts = st.sets(st.integers(1, rows - 1)) if rows > 1 else st.just(set[int]())
    return cuts.map(lambda found: [b - a for a, b in zip([0, *sorted(found)], [*sorted(found), rows], strict=True)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", BUILT)
def test_rows_in_every_chunking_give_the_references_outputs(seed: int, folder: Path) -> None:
    made = compiled(seed)
    where = built(made, folder / str(seed))

    @settings(max_examples=12, deadline=None)
    @given(chunks_of(made.rows.count))
    def check(chunks: list[int]) -> None:
        first, begun, running, nothing, many, *answers, beyond = pushed(where, chunks)
        assert (first, begun, running, nothing, many, beyond) == (-4, 1, -4, -1, -8, -8)
        assert answers[-1] == 0 and set(answers) <= {0, 1} and answers == sorted(answers, reverse=True)
        demand_right(made, where)

    check()
    check_singly = pushed(where, [1] * made.rows.count)
    assert check_singly[-2] == 0
    demand_right(made, where)


@pytest.mark.slow
@pytest.mark.parametrize("seed", BUILT)
def test_run_pushes_everything(seed: int, tmp_path: Path) -> None:
    made = compiled(seed, "speed")
    job = Job(
        artifact=emit(made.program, EmitOptions(const_format="c")),
        plan=made.plan,
        prefix="net",
        input_sets=(made.network.feeds, made.network.feeds),
        sanitize=True,
    )
    expected = run(made.network.graph, made.network.feeds, vocabulary())
    for outputs in HostRunner().run(job, tmp_path).outputs:
        for name, array in outputs.items():
            np.testing.assert_array_equal(array, expected[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_take_little_more_than_without_the_input(seed: int) -> None:
    made = compiled(seed)
    kept = ram_bytes(planned(made.network.graph, "pool"))
    assert ram_bytes(made.plan) <= kept + 8 * made.rows.size_bytes + 64


@pytest.mark.parametrize("seed", SEEDS)
def test_the_input_is_in_no_pool(seed: int) -> None:
    made = compiled(seed, "speed")
    assert made.port.pool == "" and len(made.program.waiting) == 1
    buffers = {one.name for one in made.plan.tiled.buffers if one.name in made.plan.placements}
    assert "x" not in buffers


def test_an_input_that_nobody_reads_by_rows_is_collected() -> None:
    """What reads it wants all of it: rows are single numbers, and memory has them all."""
    from tilewright.ir.tensors.dtypes import DType
    from tilewright.testing.sketch import Sketch

    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (1, 12))
    y = sketch.node("Softmax", (x,), {"axis": 1})
    plan = planned(with_arrival(sketch.finish(y), "x"))
    assert lower(plan, vocabulary(), "net").inputs[0].rows == PortRows(count=12, blocks=1, piece_bytes=4, step=0)
    assert [region.steps for region in plan.tiled.regions if region.line_buffers] == [("x:arrival",)]
    assert ram_bytes(plan) >= 48
