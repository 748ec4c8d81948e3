"""An engine with a memory for weights that only it reads: constants live there, no copy and no core touches them, and
what does not fit is computed by the cores. And constants that a kernel packs for each tile.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.check.plans.alignment import alignment_faults
from tilewright.check.plans.plan import plan_faults
from tilewright.config.memory_rules import CopyRule
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import CopyPath, Memory, Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.layer import layer_of
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.programs.runner import Job
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import registry_for
from tilewright.testing.kernels.kernel_faults import kernel_faults
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of

PROJECT = Path(__file__).parent / "acme_mvm"
WIDTHS = (30, 40, 40)
RUNNER = TwinRunner(seeds=(0, 1))
SIMPLE = Options()


def vendor() -> ModuleType:
    """The vendor's module, as if it were installed."""
    if "acme_mvm" not in sys.modules:
        spec = importlib.util.spec_from_file_location("acme_mvm", PROJECT / "acme_mvm.py")
        assert spec is not None and spec.loader is not None
        sys.modules["acme_mvm"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["acme_mvm"])
    return sys.modules["acme_mvm"]


def weights() -> list[np.ndarray[Any, Any]]:
    """Whole numbers, so that every order of a sum gives the same."""
    shapes = pairwise(WIDTHS)
    return [(np.arange(k * n).reshape(k, n) % (7 - 2 * at) - 2).astype(np.float32) for at, (k, n) in enumerate(shapes)]


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


def deployed(options: Options = SIMPLE, kernel: Kernel | None = None, machine: Platform | None = None) -> Deployment:
    """The model on the vendor's machine, or on one that is changed."""
    return of_model(model(), options, kernel, machine)


def of_model(
    onnx: bytes, options: Options = SIMPLE, kernel: Kernel | None = None, machine: Platform | None = None
) -> Deployment:
    mvm: Any = vendor()
    registry = registry_for(machine or mvm.ACME_MVM)
    kernels = {made.name: made for made in (mvm.MVM, mvm.BLOB, *([kernel] if kernel else []))}
    return Deployment(onnx, "acme-mvm", options, replace(registry, kernels={**registry.kernels, **kernels}))


def kernels_of(plan: Allocated) -> list[str]:
    return [binding.kernel.name for binding in plan.tiled.scheduled.bound.bindings.values()]


def places_of(plan: Allocated) -> Mapping[str, str]:
    return {name: plan.placements[name].memory for name in plan.tiled.scheduled.bound.constants}


def demand_right(plan: Deployment, folder: Path) -> None:
    x = (np.arange(WIDTHS[0], dtype=np.float32) % 5)[None]
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": x},), trace=True)
    first, second = weights()
    np.testing.assert_array_equal(RUNNER.run(job, folder).outputs[0]["y"], -(x @ first) @ second)


def test_it_is_about_100_lines() -> None:
    assert len((PROJECT / "acme_mvm.py").read_text(encoding="utf-8").splitlines()) < 130


def test_weights_live_where_only_the_engine_reads(tmp_path: Path) -> None:
    plan = deployed(Options(memory={"mram": 12 << 10}))
    assert places_of(plan.allocated) == {"first.B": "mram", "second.B": "mram"}
    assert not any(".B@" in buffer.name for buffer in plan.allocated.tiled.buffers)  # no copies
    assert b'TW_SECTION(".rodata.tw.model.mram")' in plan.artifact.files["model_weights.c"]
    used = {pool.memory: pool.used_bytes for pool in plan.allocated.pools}
    assert used["mram"] == 16 + 4 * (32 * 40 + 40 * 40)  # rows of 30 floats are padded to 32
    demand_right(plan, tmp_path)


def test_what_does_not_fit_is_computed_by_the_cores(tmp_path: Path) -> None:
    """First the layer that loses least for each byte."""
    plan = deployed()
    assert kernels_of(plan.allocated) == ["portable.matmul_weights_f32", "portable.neg", "acme.mvm"]
    assert places_of(plan.allocated) == {"first.B": "rom", "second.B": "mram"}
    notes = plan.allocated.tiled.scheduled.bound.diagnostics
    assert any(note.code == "TW5035" and "mram" in note.message for note in notes)
    demand_right(plan, tmp_path)
    assert "acme.mvm" not in kernels_of(deployed(Options(memory={"mram": 1000})).allocated)


def test_without_another_kernel_the_error_says_who_reads_what_where() -> None:
    pinned = Decisions(kernels={"first": "acme.mvm", "second": "acme.mvm"})
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(Options(pins=pinned)).allocated
    assert caught.value.code == "TW5001"
    assert "kernel 'acme.mvm' of 'first' reads B in mram only" in caught.value.details
    assert any(fix.startswith("--memory mram=11536") for fix in caught.value.fix)


def test_a_pin_does_not_put_them_elsewhere() -> None:
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(Options(memory={"mram": 12 << 10}, pins=Decisions(memories={"first.B": "rom"}))).allocated
    assert caught.value.code == "TW5002"


def test_a_copy_does_not_take_them_elsewhere() -> None:
    rules = (CopyRule(pattern="*", memory="dram"),)
    with pytest.raises(TilewrightError) as caught:
        _ = deployed(Options(memory={"mram": 12 << 10}, constant_copies=rules)).allocated
    assert caught.value.code == "TW5033" and "'acme.mvm' of 'first' reads B in mram only" in caught.value.message


def test_no_copy_is_chosen_of_them() -> None:
    machine = vendor().ACME_MVM
    fast = tuple(
        replace(memory, bytes_per_cycle=9.0) if memory.name == "dram" else memory for memory in machine.memories
    )
    options = Options(memory={"mram": 12 << 10}, choose_constant_copies=True)
    plan = deployed(options, machine=replace(machine, memories=fast)).allocated
    assert kernels_of(plan) == ["acme.mvm", "portable.neg", "acme.mvm"] and not plan.decisions.staged


@pytest.mark.parametrize(
    ("named", "access", "reason"),
    [
        ("nvm", {}, "reads B in 'nvm', where no constant of target 'acme-mvm' can be: it has no such memory"),
        ("mram", {"cores": "none", "mvm": "none"}, "reads B in 'mram', where engine 'mvm' has no access"),
    ],
)
def test_a_memory_that_cannot_be_refuses_the_kernel(named: str, access: dict[str, Any], reason: str) -> None:
    mvm: Any = vendor()
    memories = tuple(replace(one, access=access) if one.name == "mram" else one for one in mvm.ACME_MVM.memories)
    kernel = replace(mvm.MVM, memories={"B": (named,)})
    bound = deployed(kernel=kernel, machine=replace(mvm.ACME_MVM, memories=memories)).allocated.tiled.scheduled.bound
    assert [one.reason for one in bound.bindings["first"].refusals if one.candidate == "acme.mvm"] == [reason]


def test_the_checker_sees_a_constant_where_its_reader_does_not_reach() -> None:
    """It shares no code with the planner."""
    plan = deployed()
    placements = {**plan.allocated.placements, "second.B": Placement(memory="rom", offset_bytes=8192)}
    anywhere = tuple(
        replace(buffer, memories=("dram", "pad", "rom", "mram")) for buffer in plan.allocated.tiled.buffers
    )
    tiled = replace(plan.allocated.tiled, buffers=anywhere)
    faults = plan_faults(replace(plan.allocated, tiled=tiled, placements=placements), plan.registry.operators)
    assert "kernel 'acme.mvm' of 'second' reads B in 'rom', not in mram" in faults


TALL = 73


def with_bias() -> tuple[bytes, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """One layer, whose matrix does not fit the scratchpad."""
    matrix = (np.arange(WIDTHS[0] * TALL).reshape(WIDTHS[0], TALL) % 7 - 3).astype(np.float32)
    bias = np.arange(TALL, dtype=np.float32)
    ends = [
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, width])]
        for name, width in (("x", WIDTHS[0]), ("y", TALL))
    ]
    constants = [numpy_helper.from_array(matrix, "w"), numpy_helper.from_array(bias, "b")]
    graph = helper.make_graph([helper.make_node("Gemm", ["x", "w", "b"], ["y"], "only")], "g", *ends, constants)
    onnx = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()
    return onnx, matrix, bias


def test_constants_are_packed_for_the_tiles_that_were_chosen(tmp_path: Path) -> None:
    """Weights and biases of a tile are one run of bytes, which one transfer brings; the last tile is smaller."""
    onnx, matrix, bias = with_bias()
    plan = of_model(onnx)
    (hop,) = plan.allocated.tiled.groups[0].region.hops
    (cut,) = hop.nest
    assert kernels_of(plan.allocated) == ["acme.blob"]
    assert 1 < cut.size < TALL and TALL % cut.size
    blob = plan.allocated.tiled.scheduled.bound.constants["only.P"].reshape(-1).view(np.float32)
    row = WIDTHS[0] + 1
    for low in range(0, TALL, cut.size):
        columns = np.vstack([matrix, bias])[:, low : low + cut.size]
        np.testing.assert_array_equal(blob[low * row : low * row + columns.size], columns.reshape(-1))
    x = (np.arange(WIDTHS[0], dtype=np.float32) % 5)[None]
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": x},), trace=True)
    ran = RUNNER.run(job, tmp_path)
    np.testing.assert_array_equal(ran.outputs[0]["y"], x @ matrix + bias)


def test_a_saved_plan_keeps_them(tmp_path: Path) -> None:
    onnx, _, _ = with_bias()
    plan = of_model(onnx)
    plan.export_state(tmp_path)
    again = of_model(onnx).import_state(tmp_path)
    assert again.artifact.files == plan.artifact.files


def test_bytes_of_another_shape_name_kernel_and_hook() -> None:
    mvm: Any = vendor()
    wrong = replace(mvm.BLOB, pack_tile=lambda tile: {"P": mvm.pack_tile(tile)["P"][:-1]})
    onnx, _, _ = with_bias()
    with pytest.raises(TilewrightError) as caught:
        _ = of_model(onnx, kernel=wrong).allocated
    assert caught.value.code == "TW8062"
    assert "kernel 'acme.blob': pack_tile of 'P' must return what its map says the tile reads" in caught.value.message


def test_the_kit_packs_for_the_tiles_that_it_tries(tmp_path: Path) -> None:
    """What is packed for one tile only is found."""
    mvm: Any = vendor()
    gemm = vocabulary()["Gemm"]
    matrix, bias = (np.arange(count, dtype=np.float32) % 5 for count in (6 * 9, 9))
    inputs = [np.ones((1, 6), np.float32), matrix.reshape(6, 9), bias]
    site = site_of(gemm, inputs, {"alpha": 1.0, "beta": 1.0}, (1, 2))
    assert not kernel_faults(gemm, mvm.BLOB, site, inputs, folder=tmp_path)
    in_one_tile = layer_of(gemm, mvm.BLOB, site).packed
    careless = replace(mvm.BLOB, pack_tile=None, pack=lambda site: in_one_tile)
    assert any("in tiles" in fault for fault in kernel_faults(gemm, careless, site, inputs, folder=tmp_path))


def test_operands_are_aligned_one_by_one() -> None:
    """What the engine wants of weights costs nothing but where there are weights."""
    plan = of_model(with_bias()[0])
    aligns = {buffer.name: buffer.align for buffer in plan.allocated.tiled.buffers}
    near = {"only.A@pad#0": 8, "only.P@pad#0": 64, "only.P@pad#1": 64, "only.Y@pad#0": 8}
    assert aligns == {"x": 4, "y": 4, **near, "only.P": 64}
    both = [plan.allocated.placements[f"only.P@pad#{number}"].offset_bytes for number in (0, 1)]
    assert not any(offset % 64 for offset in both)
    assert {buffer.name: buffer.align for buffer in deployed().allocated.tiled.buffers}["second.B"] == 16


def test_the_checker_sees_an_operand_that_begins_elsewhere() -> None:
    plan = of_model(with_bias()[0])
    buffers = tuple(replace(buffer, align=4) for buffer in plan.allocated.tiled.buffers)
    moved = {**plan.allocated.placements, "only.P@pad#1": Placement(memory="pad", offset_bytes=2 << 10 | 8)}
    faulty = replace(plan.allocated, tiled=replace(plan.allocated.tiled, buffers=buffers), placements=moved)
    (fault,) = alignment_faults(faulty, plan.registry.operators)
    assert fault == "kernel 'acme.blob' of 'only' finds P at 2056 of memory 'pad', no multiple of 64 bytes"


def test_a_memory_that_begins_anywhere_is_named() -> None:
    mvm: Any = vendor()
    memories = tuple(replace(one, align=16) for one in mvm.ACME_MVM.memories)
    with pytest.raises(TilewrightError) as caught:
        _ = of_model(with_bias()[0], machine=replace(mvm.ACME_MVM, memories=memories)).allocated
    assert caught.value.code == "TW5066"
    assert "must begin at a multiple of 64 bytes" in caught.value.message


def test_tiles_that_would_begin_elsewhere_are_not_cut() -> None:
    """Rows of 160 bytes where the engine wants multiples of 64, and reads what no copy moves."""
    mvm: Any = vendor()
    memories = tuple(replace(one, align=64) for one in mvm.ACME_MVM.memories)
    kernel = replace(mvm.MVM, align={"B": 64}, rank=1)
    plan = deployed(kernel=kernel, machine=replace(mvm.ACME_MVM, memories=memories)).allocated
    assert kernels_of(plan)[-1] == "acme.mvm"
    assert "n" not in cuts_of(plan, "second")
    assert "n" in cuts_of(deployed().allocated, "second")


def cuts_of(plan: Allocated, step: str) -> list[str]:
    """The loops that a step's tiles cut."""
    return [cut.loop for one in plan.tiled.groups if one.name == step for hop in one.region.hops for cut in hop.nest]


@pytest.mark.parametrize(("declared", "found"), [({"P": 64}, False), ({"P": 32}, True), ({}, True)])
def test_the_kit_aligns_operands_no_better_than_declared(tmp_path: Path, declared: dict[str, int], found: bool) -> None:
    mvm: Any = vendor()
    gemm = vocabulary()["Gemm"]
    inputs = [np.ones((1, 6), np.float32), np.ones((6, 9), np.float32), np.ones(9, np.float32)]
    site = site_of(gemm, inputs, {"alpha": 1.0, "beta": 1.0}, (1, 2))
    demanding = f"if ((uintptr_t)${{P}} % 64u) {{ __builtin_trap(); }}\n{mvm.BLOB.call}"
    kernel = replace(mvm.BLOB, align=declared, call=demanding)
    assert bool(kernel_faults(gemm, kernel, site, inputs, folder=tmp_path)) is found


def filled(memory: Memory, *copies: CopyPath, rom: bool = True) -> Platform:
    """The machine with another memory, and copies to it. `rom`: whether cores read what the linker fills."""
    mvm: Any = vendor()
    cores = {} if rom else {"cores": "none"}
    memories = tuple(replace(one, access=cores) if one.name == "rom" else one for one in mvm.ACME_MVM.memories)
    kept = tuple(path for path in mvm.ACME_MVM.copies if rom or path.source != "rom")
    return replace(mvm.ACME_MVM, memories=(*memories, memory), copies=(*kept, *copies))


def test_a_memory_of_the_engine_that_is_written_is_filled_before_the_first_run(tmp_path: Path) -> None:
    mvm: Any = vendor()
    wsram = Memory(name="wsram", size_bytes=12 << 10, access={"cores": "none"})
    kernel = replace(mvm.MVM, memories={"B": ("wsram",)})
    plan = deployed(kernel=kernel, machine=filled(wsram, mvm.path("rom", "wsram")))
    assert kernels_of(plan.allocated) == ["acme.mvm", "portable.neg", "acme.mvm"]
    there = [name for name, place in plan.allocated.placements.items() if place.memory == "wsram"]
    assert there == ["first.B@wsram", "second.B@wsram"]
    assert {pool.memory: pool.used_bytes for pool in plan.allocated.pools}["wsram"] == 4 * (32 * 40 + 40 * 40)
    text = plan.artifact.files["model.c"].decode("ascii")
    assert "tw_rt_copy(" in text[text.index("tw_status model_init(") : text.index("tw_status model_reset_state(")]
    demand_right(plan, tmp_path)
    small = deployed(kernel=kernel, machine=filled(replace(wsram, size_bytes=8 << 10), mvm.path("rom", "wsram")))
    assert kernels_of(small.allocated) == ["portable.matmul_weights_f32", "portable.neg", "acme.mvm"]


def test_a_memory_that_takes_two_copies_is_refused_with_the_way() -> None:
    mvm: Any = vendor()
    wsram = Memory(name="wsram", size_bytes=None, access={"cores": "none"})
    kernel = replace(mvm.MVM, memories={"B": ("wsram",)})
    plan = deployed(kernel=kernel, machine=filled(wsram, mvm.path("rom", "dram"), mvm.path("dram", "wsram")))
    (reason,) = [one.reason for one in plan.bound.bindings["first"].refusals if one.candidate == "acme.mvm"]
    assert reason.endswith("the way is rom -> dram -> wsram, and one copy is made before the first run")


def test_constants_come_by_way_of_the_backing_memory(tmp_path: Path) -> None:
    """rom -> dram once, dram -> mid -> pad tile by tile."""
    mvm: Any = vendor()
    mid = Memory(name="mid", size_bytes=16 << 10)
    machine = filled(mid, *(mvm.path(*ends) for ends in HOPS), rom=False)
    machine = replace(machine, copies=tuple(path for path in machine.copies if (path.source, path.target) in HOPS))
    plan = of_model(model(), machine=machine, kernel=replace(mvm.MVM, target="none"))
    assert plan.allocated.placements["first.B@dram"].memory == "dram"
    assert {"first.B@mid#0", "first.B@pad#0"} <= plan.allocated.placements.keys()
    demand_right(plan, tmp_path)


HOPS = (("rom", "dram"), ("dram", "mid"), ("mid", "dram"), ("mid", "pad"), ("pad", "mid"))
