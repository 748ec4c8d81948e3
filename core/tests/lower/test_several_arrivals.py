"""Several inputs that arrive in rows, on this machine under sanitizers: in whatever order rows are handed over, as far
as there is room for them, every output is what the reference says.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portable_plans import portable_planner
from reference_runs import demand_reference, hooked_program
from row_networks import ONE_MEMORY, row_network
from tilewright.comparison.reference import run
from tilewright.emit import EmitOptions, emit
from tilewright.ir.graphs.graph import Graph, Node
from tilewright.ir.plans.decisions import Decisions, IoOwner
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import Program
from tilewright.ir.tensors.dtypes import DType
from tilewright.plan.kernel_fallback import Fitting
from tilewright.plan.proposals.planner import Optimize, ram_bytes
from tilewright.rewrite.insert_streamed_io import with_streamed_io
from tilewright.runners.host import SANITIZE, STRICT
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 16))]
WAYS: tuple[tuple[IoOwner, Optimize], ...] = (("pool", "ram"), ("pull", "ram"), ("user", "speed"), ("pull", "speed"))
SAME = {"kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (1, 1, 1, 1), "group": 1}


@dataclass(frozen=True, slots=True)
class Network:
    """All inputs arrive in rows."""

    graph: Graph
    feeds: Mapping[str, npt.NDArray[np.generic]]


def fed(graph: Graph, seed: int = 0) -> Network:
    numbers = np.random.default_rng(seed)
    shapes = {name: graph.tensors[name].shape for name in graph.inputs}
    return Network(graph, {name: numbers.integers(-3, 4, shape).astype(np.float32) for name, shape in shapes.items()})


def random_network(seed: int) -> Network:
    """A network of which one or two values have a further input added."""
    graph = row_network(seed, vocabulary()).graph
    chance = random.Random(seed)
    for name in ("z", "w")[: 1 + seed % 2]:
        read = [value for node in graph.nodes for value in node.inputs]
        inner = sorted({value for node in graph.nodes for value in node.outputs if value in read})
        graph = with_addition(graph, chance.choice([*inner, "x"]), name)
    return fed(graph, seed)


def with_addition(graph: Graph, value: str, name: str) -> Graph:
    """What reads a value reads its sum with a new input."""
    first = next(at for at, node in enumerate(graph.nodes) if value in node.inputs)
    total, tensor = f"{value}+{name}", graph.tensors[value]
    nodes = [
        replace(node, inputs=tuple(total if read == value else read for read in node.inputs)) for node in graph.nodes
    ]
    nodes.insert(first, Node(name=f"add {name}", op="Add", inputs=(value, name), outputs=(total,)))
    made = {one: replace(tensor, name=one) for one in (name, total)}
    return replace(graph, inputs=(*graph.inputs, name), nodes=tuple(nodes), tensors={**graph.tensors, **made}).verify()


def planned(network: Network, of_output: IoOwner = "pool", optimize: Optimize = "ram") -> Allocated:
    """With the first output so, and the others in the plan."""
    return planned_with(network, {network.graph.outputs[0]: of_output}, optimize)


def planned_with(network: Network, outputs: Mapping[str, IoOwner], optimize: Optimize = "ram") -> Allocated:
    ends: dict[str, IoOwner] = {**dict.fromkeys(network.graph.inputs, "push"), **outputs}
    planner = portable_planner(pins=Decisions(io=ends), optimize=optimize)
    passing = {name: whose for name, whose in ends.items() if whose in ("push", "pull")}
    return Fitting(planner=planner).plan(planner.bind(with_streamed_io(network.graph, passing), ONE_MEMORY))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_networks_give_the_references_outputs(seed: int, tmp_path: Path) -> None:
    network = random_network(seed)
    demand_reference(planned(network, *WAYS[seed % len(WAYS)]), network.feeds, tmp_path)


@pytest.mark.slow
def test_a_single_number_is_a_row(tmp_path: Path) -> None:
    sketch = Sketch(operators=vocabulary())
    x, gain = sketch.input("x", DType.F32, (1, 2, 12, 5)), sketch.input("gain", DType.F32, ())
    weights = sketch.constant(np.ones((2, 2, 3, 3), np.float32))
    network = fed(sketch.finish(sketch.node("Conv", (sketch.node("Mul", (x, gain)), weights), SAME)))
    plan = planned(network)
    assert [port.rows.count for port in hooked_program(plan).inputs if port.rows] == [12, 1]
    demand_reference(plan, network.feeds, tmp_path)


def two_images(*, heights: tuple[int, int] = (14, 14), apart: bool = False) -> Network:
    """Two images, a convolution of each, and one of their sum, or an output of each."""
    sketch = Sketch(operators=vocabulary())
    weights = np.random.default_rng(2).integers(-1, 2, (2, 2, 3, 3)).astype(np.float32)
    ends = [sketch.input(name, DType.F32, (1, 2, height, 4)) for name, height in zip("ab", heights, strict=True)]
    made = [sketch.node("Conv", (one, sketch.constant(weights)), SAME) for one in ends]
    if not apart:
        made = [sketch.node("Conv", (sketch.node("Add", tuple(made)), sketch.constant(weights)), SAME)]
    return fed(sketch.finish(*made))


MAIN = """
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAY(call) printf("%d ", (int)(call))

static float a[NET_IN_A_ELEMENTS], b[NET_IN_B_ELEMENTS];
static net_ctx ctx;
static int wrong;

/* Up to `count` rows of an input, from memory of this size alone; what is said of them agrees with what moved. */
static tw_status some(int of_a, uint32_t count)
{
    const uint32_t at = of_a ? net_pushed_a(&ctx) : net_pushed_b(&ctx);
    const uint32_t rows = of_a ? NET_IN_A_ROWS : NET_IN_B_ROWS, left = rows - at, many = count < left ? count : left;
    const uint32_t room = of_a ? net_room_a(&ctx) : net_room_b(&ctx);
    const size_t bytes = of_a ? NET_IN_A_ROW_SIZE : NET_IN_B_ROW_SIZE;
    const size_t pieces = of_a ? NET_IN_A_ROW_PIECES : NET_IN_B_ROW_PIECES;
    const uint8_t *const whole = of_a ? (const uint8_t *)a : (const uint8_t *)b;
    uint8_t *const chunk = malloc(many * bytes + 1u), *target = chunk + 1;
    uint32_t moved;
    tw_status status;
    if (chunk == NULL) {
        exit(7);
    }
    for (uint32_t row = at; row < at + many; ++row) {
        for (size_t piece = 0; piece < pieces; ++piece) {
            memcpy(target, whole + (piece * rows + row) * (bytes / pieces), bytes / pieces);
            target += bytes / pieces;
        }
    }
    status = of_a ? net_push_a(&ctx, (const float *)(const void *)(chunk + 1), many)
                  : net_push_b(&ctx, (const float *)(const void *)(chunk + 1), many);
    memset(chunk, 0x5A, many * bytes + 1u);
    free(chunk);
    moved = (of_a ? net_pushed_a(&ctx) : net_pushed_b(&ctx)) - at;
    wrong |= (status == TW_BLOCKED) != (many > 0u && room == 0u);
    wrong |= moved < (many < room ? many : room) || moved > many || status < 0 || room > left;
    return status;
}

/* net a3 b1 ...: which input, how many rows. What is left is pushed row by row, as there is room. */
int main(int argc, char **argv)
{
    static TW_ALIGNED(64) uint8_t ram[NET_POOL_RAM_SIZE];
    static net_outputs outputs;
    const net_pools pools = {ram};
    const net_inputs inputs = {a, b};
    tw_status status;
    FILE *file = fopen("inputs.bin", "rb");
    if (file == NULL || fread(a, 1, sizeof a, file) != sizeof a || fread(b, 1, sizeof b, file) != sizeof b) {
        return 9;
    }
    fclose(file);
    SAY(net_init(&ctx, &pools, NULL, NULL, NULL));
    SAY(net_push_b(&ctx, b, 1u));                                /* before the beginning */
    SAY(net_room_a(&ctx) + net_room_b(&ctx) + net_room_a(NULL));
    SAY(status = net_begin(&ctx, NULL, &outputs));
    SAY(net_run(&ctx, &inputs, &outputs));                       /* rows are missing */
    SAY(net_push_b(&ctx, NULL, 1u));
    SAY(net_push_b(&ctx, b, NET_IN_B_ROWS + 1u));
    SAY(net_push_b(&ctx, b, 0u));                                /* what comes next */
    for (int i = 1; i < argc; ++i) {
        const tw_status got = some(argv[i][0] == 'a', (uint32_t)atoi(argv[i] + 1));
        status = got == TW_BLOCKED ? status : got;
    }
    for (unsigned turn = 0; status == TW_MORE; ++turn) {
        const int of_a = net_room_b(&ctx) == 0u || (turn % 3u != 0u && net_room_a(&ctx) > 0u);
        status = some(of_a, 1u);
    }
    SAY(status);
    SAY(wrong);
    while (net_room_a(&ctx) + net_room_b(&ctx) > 0u) {           /* rows that nobody needed */
        status = some(net_room_a(&ctx) > 0u, 2u);
    }
    SAY(status);
    SAY(net_pushed_a(&ctx) == NET_IN_A_ROWS && net_pushed_b(&ctx) == NET_IN_B_ROWS);
    SAY(net_push_a(&ctx, a, 1u));
    file = fopen("outputs.bin", "wb");
    if (file == NULL) {
        return 6;
    }
WRITES
    return fclose(file);
}
"""
BEFORE = ["0", "-4", "0", "1", "-4", "-1", "-8", "1"]
AFTER = ["0", "0", "0", "1", "-8"]
CASES: dict[str, tuple[Network, Optimize]] = {
    "together": (two_images(), "ram"),
    "one after the other": (two_images(), "speed"),
    "apart": (two_images(heights=(14, 9), apart=True), "ram"),
}


@cache
def compiled(case: str) -> tuple[Network, Program]:
    network, optimize = CASES[case]
    return network, hooked_program(planned(network, optimize=optimize))


def built(case: str, folder: Path) -> Path:
    """The program that pushes what its arguments say. In a folder of its own, once."""
    network, made = compiled(case)
    if (folder / "main").exists():
        return folder
    folder.mkdir()
    artifact = emit(made, EmitOptions(const_format="c"))
    for name, content in artifact.files.items():
        (folder / name).write_bytes(content)
    writes = "\n".join(
        f"    fwrite(ram + {port.offset_bytes}, 1, {port.tensor.size_bytes}u, file);" for port in made.outputs
    )
    (folder / "main.c").write_text(MAIN.replace("WRITES", writes), encoding="ascii")
    (folder / "inputs.bin").write_bytes(b"".join(network.feeds[name].tobytes() for name in "ab"))
    sources = sorted(name for name in artifact.files if name.endswith(".c") and name != "net_simple.c")
    command = [*find_compiler().command, *STRICT, *SANITIZE, "-I.", "-o", "main", "main.c", *sources, "-lm"]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    return folder


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arrivals")


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_rows_come_in_any_order(case: str, folder: Path) -> None:
    where = built(case, folder / case.replace(" ", "_"))
    network, made = compiled(case)
    expected = run(network.graph, network.feeds, vocabulary())

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 6)), max_size=20))
    def check(pushes: list[tuple[str, int]]) -> None:
        words = [f"{name}{count}" for name, count in pushes]
        ran = subprocess.run(["./main", *words], cwd=where, check=True, capture_output=True, text=True, timeout=60)
        assert ran.stdout.split() == BEFORE + AFTER
        content, at = (where / "outputs.bin").read_bytes(), 0
        for port in made.outputs:
            got = np.frombuffer(content, np.float32, port.tensor.elements, at).reshape(port.tensor.shape)
            np.testing.assert_array_equal(got, expected[port.value])
            at += port.tensor.size_bytes

    check()


def test_rows_of_two_images_are_in_turns_where_they_are_computed_together() -> None:
    together, after = (compiled(case)[1].inputs for case in ("together", "one after the other"))
    assert len({port.rows.step for port in together if port.rows}) == 1
    assert len({port.rows.step for port in after if port.rows}) == 2
    assert all(port.rows and port.pool == "" for port in (*together, *after))


def test_inputs_are_nowhere_whole() -> None:
    network = two_images()
    whole = sum(network.graph.tensors[name].size_bytes for name in network.graph.inputs)
    kept = with_streamed_io(network.graph, {})
    assert kept.inputs == network.graph.inputs and ram_bytes(planned(network, "pull")) < whole


@pytest.mark.slow
def test_one_input_has_the_same_code_as_before() -> None:
    """What is there for several is not there for one."""
    network = row_network(1, vocabulary())
    code = emit(hooked_program(planned(Network(network.graph, network.feeds))), EmitOptions(const_format="c")).files
    assert b"tw_end_of_room" not in code["net.c"] and b"net_room_x" not in code["net.h"]


@pytest.mark.slow
def test_two_outputs_are_taken_in_any_number_of_rows(tmp_path: Path) -> None:
    """`ready` says which; both outputs, and both inputs, are nowhere whole."""
    network = two_images(heights=(14, 9), apart=True)
    plan = planned_with(network, dict.fromkeys(network.graph.outputs, "pull"))
    header = emit(hooked_program(plan), EmitOptions(const_format="c")).files["net.h"].decode()
    assert all(f"net_ready_{port.member}(" in header for port in hooked_program(plan).outputs)
    demand_reference(plan, network.feeds, tmp_path)
