"""The pass `cortex-m-cache`: cleaned and invalidated where there is a data cache, and only there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tilewright.comparison.reference import run as run_reference
from tilewright.comparison.vectors import random_vectors
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job
from tilewright_cortexm.qemu.runner import QemuRunner

MODEL = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits_int8.onnx"
CACHED = ("m7", "m55")


def source(target: str, options: Options | None = None) -> str:
    plan = Deployment(MODEL, target, options)
    return plan.artifact.files[f"{plan.prefix}.c"].decode("ascii")


@pytest.mark.parametrize("core", CACHED)
def test_inputs_are_flushed_before_and_everything_after(core: str) -> None:
    plan = Deployment(MODEL, f"cortex-{core}")
    text = plan.artifact.files[f"{plan.prefix}.c"].decode("ascii")
    body = text.partition("tw_status digits_int8_run(")[2]
    first, last = body.index("TW_CACHE_FLUSH(ram"), body.rindex("TW_CACHE_FLUSH(ram")
    steps = [body.index(f"{step.function}(") for step in plan.program.steps]
    assert first < min(steps)
    assert last > max(steps)
    for port in (*plan.program.inputs, *plan.program.outputs):
        assert f"    {port.offset} = {port.offset_bytes}, /*" in text
        assert f"TW_CACHE_FLUSH({port.pool} + {port.offset}, {port.tensor.size_bytes}u);" in body[max(steps) :]


@pytest.mark.parametrize("target", ["cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m33", "generic"])
def test_without_a_data_cache_there_is_nothing(target: str) -> None:
    assert "TW_CACHE" not in source(target)


def test_the_callers_own_memory_is_the_callers() -> None:
    assert "    TW_CACHE_FLUSH(" not in source("cortex-m7", Options(io_inputs="user", io_outputs="user"))


@pytest.mark.slow
@pytest.mark.parametrize("core", CACHED)
def test_with_maintenance_on_it_builds_and_computes_the_same(
    core: str, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(name)
    plan = Deployment(MODEL, f"cortex-{core}")
    (drawn,) = random_vectors(plan.inputs, 1, seed=3)
    text = b"#define TW_CACHE_MAINTENANCE\n" + plan.artifact.files[f"{plan.prefix}.c"]
    changed = Artifact(files={**plan.artifact.files, f"{plan.prefix}.c": text})
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(drawn.inputs,))
    plain, flushed = (
        QemuRunner().run(replace(job, artifact=artifact), tmp_path / str(index))
        for index, artifact in enumerate((plan.artifact, changed))
    )
    values = run_reference(plan.graph, drawn.inputs, plan.registry.operators)
    for name, got in flushed.outputs[0].items():
        np.testing.assert_array_equal(got, values[name])
    assert flushed.counts["instructions"] > plain.counts["instructions"]
