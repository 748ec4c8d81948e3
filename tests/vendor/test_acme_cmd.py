"""An engine that executes commands out of the flash: constants that hold the places of what they name, made once these
are known, and right wherever the application keeps its memory.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.vectors import VectorSet
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel, PlacedTile
from tilewright.ir.machines.platform import CopyPath, Engine, Memory, Platform
from tilewright.ir.programs.runner import Job
from tilewright.plugins.registry import Provenance
from tilewright.runners.host import HostRunner
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import registry_for
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.validation.validation import validate

PROJECT = Path(__file__).parent / "acme_cmd"
WIDTHS = (30, 40, 40)
RUNNER = TwinRunner(seeds=(0, 1))
SIMPLE = Options()

Array = np.ndarray[Any, Any]


def vendor() -> ModuleType:
    """The vendor's module, as if it were installed."""
    if "acme_cmd" not in sys.modules:
        spec = importlib.util.spec_from_file_location("acme_cmd", PROJECT / "acme_cmd.py")
        assert spec is not None and spec.loader is not None
        sys.modules["acme_cmd"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["acme_cmd"])
    return sys.modules["acme_cmd"]


CMD: Any = vendor()
MACHINES = ("one memory", "scratchpad", "scratchpad with queue", "one core")


def path(source: str, target: str) -> CopyPath:
    return CopyPath(source=source, target=target, channels=4, cycles=lambda size_bytes, rows: 20.0 * rows + size_bytes)


def machine(name: str) -> Platform:
    """The vendor's, or one with another memory or other cores around the engine."""
    if name == "one core":
        return replace(CMD.ACME_CMD, engines=(Engine(name="core"), Engine(name="npu", preferred=True)))
    if not name.startswith("scratchpad"):
        platform: Platform = CMD.ACME_CMD
        return platform
    sram, flash = CMD.ACME_CMD.memories
    pad = replace(sram, name="pad", size_bytes=4 << 10, align=2 << 10, bank_bytes=2 << 10)
    engine = Engine(name="npu", preferred=True, queue=2 if name.endswith("queue") else 1)
    return replace(
        CMD.ACME_CMD, memories=(Memory(name="dram", size_bytes=1 << 20), pad, flash), backing="dram", inner="pad",
        copies=(path("dram", "pad"), path("pad", "dram"), path("flash", "pad")),
        engines=(Engine(name="cores", cores=2), engine),
    )  # fmt: skip


def weights() -> list[Array]:
    """Whole numbers, so that every order of a sum gives the same."""
    shapes = enumerate(pairwise(WIDTHS))
    return [(np.arange(k * n).reshape(k, n) % (7 - 2 * at) - 2).astype(np.float32) for at, (k, n) in shapes]


X = (np.arange(WIDTHS[0], dtype=np.float32) % 5)[None]
Y = -(X @ weights()[0]) @ weights()[1]


def model() -> bytes:
    """Two layers, and a sign between them."""
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["h"], "first"),
        helper.make_node("Neg", ["h"], ["n"], "between"),
        helper.make_node("MatMul", ["n", "w1"], ["y"], "second"),
    ]
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])]
        for name, width in (("x", WIDTHS[0]), ("y", WIDTHS[-1]))
    ]
    constants = [numpy_helper.from_array(matrix, f"w{at}") for at, matrix in enumerate(weights())]
    graph = helper.make_graph(nodes, "g", *ends, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def deployed(platform: Platform, kernel: Kernel | None = None, options: Options = SIMPLE) -> Deployment:
    """The model on a machine, with the vendor's kernel or one that is changed."""
    registry = registry_for(platform)
    registry = replace(
        registry,
        kernels={**registry.kernels, "acme.rows": kernel or CMD.ROWS},
        provenance={**registry.provenance, ("kernel", "acme.rows"): Provenance(distribution="acme-cmd", version="1.2")},
    )
    return Deployment(model(), "acme-cmd", options, registry)


def job(plan: Deployment, *, sanitize: bool = False) -> Job:
    return Job(
        artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": X},), trace=True,
        sanitize=sanitize,
    )  # fmt: skip


def changed(change: Callable[[Array, PlacedTile], object]) -> Kernel:
    """The kernel with other commands."""

    def commands(tile: PlacedTile) -> Mapping[str, Array]:
        made: Array = CMD.commands(tile)["C"].copy()
        change(made, tile)
        return {"C": made}

    return replace(CMD.ROWS, pack_placed=commands)


def test_it_is_about_100_lines() -> None:
    assert len((PROJECT / "acme_cmd.py").read_text(encoding="utf-8").splitlines()) < 115


@pytest.mark.parametrize("name", MACHINES)
def test_commands_name_what_the_operands_are(name: str, tmp_path: Path) -> None:
    plan = deployed(machine(name))
    kernels = [binding.kernel.name for binding in plan.allocated.tiled.scheduled.bound.bindings.values()]
    assert kernels == ["acme.rows", "portable.neg", "acme.rows"]
    runner = HostRunner() if name == "one core" else RUNNER
    np.testing.assert_array_equal(runner.run(job(plan), tmp_path).outputs[0]["y"], Y)


@pytest.mark.parametrize("name", ["one memory", "one core"])
def test_nothing_is_undefined_about_them(name: str, tmp_path: Path) -> None:
    plan = deployed(machine(name))
    runner = HostRunner() if name == "one core" else RUNNER
    np.testing.assert_array_equal(runner.run(job(plan, sanitize=True), tmp_path).outputs[0]["y"], Y)


def test_tensors_that_stay_with_the_caller_are_bases_of_their_own(tmp_path: Path) -> None:
    anywhere = replace(CMD.ROWS, banks=())  # nobody knows in which bank these are
    plan = deployed(machine("one core"), anywhere, options=Options(io_inputs="user", io_outputs="user"))
    first, second = (plan.allocated.tiled.scheduled.bound.constants[f"{name}.C"] for name in ("first", "second"))
    assert first[0, 1:3].tolist() == [0, 0] and second[0, 5] not in (second[0, 1], second[0, 3])
    np.testing.assert_array_equal(HostRunner().run(job(plan), tmp_path).outputs[0]["y"], Y)


def test_the_same_constants_serve_every_pool_of_the_application(tmp_path: Path) -> None:
    """They count from bases, so the flash is right for two contexts whose memory is in two places."""
    plan = deployed(machine("one core"))
    main = f"""
#include "model.h"
static TW_ALIGNED(1024) uint8_t memory[2][8192];
_Static_assert(MODEL_POOL_SRAM_SIZE + 1024u <= sizeof memory[0], "room for the pool, and a bank before it");
int main(void)
{{
    for (int place = 0; place < 2; ++place) {{
        static const float x[{WIDTHS[0]}] = {{{", ".join(str(float(value)) for value in X[0])}}};
        static float y[2][{WIDTHS[-1]}];
        const float right[] = {{{", ".join(str(float(value)) for value in Y[0])}}};
        model_ctx context;
        const model_pools pools = {{.sram = memory[place] + 1024 * place}};
        const model_inputs inputs = {{.x = x}};
        const model_outputs outputs = {{.y = y[place]}};
        if (model_init(&context, &pools, NULL, NULL, NULL) != TW_OK) {{ return 2; }}
        if (model_run(&context, &inputs, &outputs) != TW_OK) {{ return 3; }}
        for (int at = 0; at < {WIDTHS[-1]}; ++at) {{ if (y[place][at] != right[at]) {{ return 4; }} }}
    }}
    return 0;
}}
"""
    from tilewright.testing.kernels.kernel_run import STRICT

    assert compiled_and_run({**plan.artifact.files, "main.c": main.encode("ascii")}, STRICT, tmp_path) == 0


def compiled_and_run(files: Mapping[str, bytes], flags: tuple[str, ...], folder: Path) -> int:
    import subprocess

    from tilewright.runners.toolchain import find_compiler

    for name, content in files.items():
        (folder / name).write_bytes(content)
    sources = [name for name in files if name.endswith(".c") and not name.endswith("_simple.c")]
    command = [*find_compiler().command, *flags, "-fsanitize=address,undefined", "-o", "program", *sources, "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    return subprocess.run([str(folder / "program")], check=False).returncode


WRITTEN = "commands of kernel 'acme.rows' name byte"


@pytest.mark.parametrize("name", ["one memory", "scratchpad", "scratchpad with queue"])
@pytest.mark.parametrize("column", [2, 4, 6])
def test_commands_that_name_other_bytes_are_found_and_blamed(name: str, column: int) -> None:
    def beside(made: Array, tile: PlacedTile) -> None:
        made[:, column] += 8

    plan = deployed(machine(name), changed(beside))
    sets = (VectorSet(inputs={"x": X}, outputs={}),)
    try:
        told = str(validate(plan, RUNNER, sets).fault)
    except TilewrightError as error:
        told = str(error)
        assert error.code in ("TW7044", "TW7007", "TW7110")
    assert "'acme.rows'" in told and "acme-cmd" in told and "first" in told


def test_the_same_plan_again_has_the_same_commands() -> None:
    first, second = (deployed(machine("scratchpad")).artifact.files for _ in range(2))
    assert first == second


def test_a_saved_plan_keeps_its_commands(tmp_path: Path) -> None:
    plan = deployed(machine("one memory"))
    plan.export_state(tmp_path)
    again = deployed(machine("one memory")).import_state(tmp_path)
    assert again.artifact.files == plan.artifact.files


READS = "pack_placed of 'C' must return what its map says the tile reads"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda tile: {"C": np.zeros((1, 7), np.int32)}, READS),
        (lambda tile: {"C": np.zeros((40, 7), np.int64)}, READS),
        (lambda tile: {"C": [1, 2]}, "pack_placed of 'C' must return a numpy array"),
        (lambda tile: {"D": np.zeros((40, 7), np.int32)}, "pack_placed must return some of what `pack` has: B, C"),
        (lambda tile: None, "pack_placed must return a mapping from names"),
    ],
)  # fmt: skip
def test_what_is_no_such_constant_names_kernel_and_hook(answer: Any, reason: str) -> None:
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(machine("one memory"), replace(CMD.ROWS, pack_placed=answer)).allocated
    assert caught.value.code == "TW8062"
    assert f"kernel 'acme.rows': {reason}" in caught.value.message


def test_tiles_that_need_other_bytes_in_one_place_are_refused() -> None:
    """One command for all of a step, whose tiles have their operands in turns in two buffers."""

    def one(tile: PlacedTile) -> Mapping[str, Array]:
        return {"C": CMD.commands(tile)["C"][:1]}

    def pack(site: Any) -> Mapping[str, Array]:
        packed: Mapping[str, Array] = CMD.pack(site)
        return {"B": packed["B"], "C": packed["C"][:1]}

    access = "n k : A[...,k] B[n,:] C[:,:] -> Y[...,n]"
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(machine("scratchpad"), replace(CMD.ROWS, access=access, pack=pack, pack_placed=one)).allocated
    assert caught.value.code == "TW5067"
    assert "acme.rows" in caught.value.message and "axis for every loop" in caught.value.fix[0]


def test_cores_cannot_share_such_a_tile() -> None:
    with pytest.raises(ValueError, match=r"kernel 'acme.rows' has `pack_placed`, and cores share its tiles"):
        replace(CMD.ROWS, parallel=("n",))


@pytest.mark.parametrize("column", [None, 2, 4, 6])
def test_the_kit_finds_commands_that_name_other_bytes(column: int | None, tmp_path: Path) -> None:
    matmul = vocabulary()["MatMul"]
    inputs = [np.ones((1, 6), np.float32), np.arange(54, dtype=np.float32).reshape(6, 9)]
    site = site_of(matmul, inputs, {}, (1,))

    def beside(made: Array, tile: PlacedTile) -> None:
        if column is not None:
            made[:, column] += 4

    faults = kernel_faults(matmul, changed(beside), site, inputs, folder=tmp_path)
    assert bool(faults) is (column is not None)
    assert all("acme.rows" in fault and "acme_execute" in fault for fault in faults)


def test_the_kit_finds_commands_that_are_others_when_they_are_made_again(tmp_path: Path) -> None:
    matmul = vocabulary()["MatMul"]
    inputs = [np.ones((1, 6), np.float32), np.ones((6, 9), np.float32)]
    asked: list[int] = []

    def counted(made: Array, tile: PlacedTile) -> None:
        asked.append(0)
        made[:, 0] += len(asked)

    faults = kernel_faults(matmul, changed(counted), site_of(matmul, inputs, {}, (1,)), inputs, folder=tmp_path)
    assert faults == ["kernel 'acme.rows': `pack_placed` gives another 'C' when it is asked again"]
