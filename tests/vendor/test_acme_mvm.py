"""An engine with a memory for weights that only it reads, in less than 100 lines: constants live there, no copy and no
core touches them, and what does not fit is computed by the cores.
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

from tilewright.check.plans.plan import plan_faults
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Platform
from tilewright.ir.plans.decisions import Decisions
from tilewright.ir.plans.stages import Allocated, Placement
from tilewright.ir.programs.runner import Job
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import registry_for

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
    mvm: Any = vendor()
    registry = registry_for(machine or mvm.ACME_MVM)
    registry = replace(registry, kernels={**registry.kernels, "acme.mvm": kernel or mvm.MVM})
    return Deployment(model(), "acme-mvm", options, registry)


def kernels_of(plan: Allocated) -> list[str]:
    return [binding.kernel.name for binding in plan.tiled.scheduled.bound.bindings.values()]


def places_of(plan: Allocated) -> Mapping[str, str]:
    return {name: plan.placements[name].memory for name in plan.tiled.scheduled.bound.constants}


def demand_right(plan: Deployment, folder: Path) -> None:
    x = (np.arange(WIDTHS[0], dtype=np.float32) % 5)[None]
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": x},), trace=True)
    first, second = weights()
    np.testing.assert_array_equal(RUNNER.run(job, folder).outputs[0]["y"], -(x @ first) @ second)


def test_it_is_about_80_lines() -> None:
    assert len((PROJECT / "acme_mvm.py").read_text(encoding="utf-8").splitlines()) < 100


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


@pytest.mark.parametrize(
    ("named", "access", "reason"),
    [
        ("nvm", {}, "reads B in 'nvm', which is no memory of target 'acme-mvm' that holds constants"),
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
