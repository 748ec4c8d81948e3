"""Networks computed row by row: in a part of the memory, with what is written whole bit-equal to its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.ir.programs.program import Part, Program
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.ir.programs.statements import KernelCall, Raw, Statement, replaced
from tilewright.plan.proposals.planner import ram_bytes
from tilewright.plugins import load_named
from tilewright.runners.host import HostRunner
from tilewright.validation.validation import validate, vectors_of

BYTES = (  # network, target, the most that rows take of what layers do
    ("resnet8_int8", "generic", 0.33),
    ("kws_int8", "generic", 0.40),
    ("vww_int8", "generic", 0.78),
    ("resnet8_int8", "cortex-m4", 0.36),
    ("kws_int8", "cortex-m4", 0.41),
    ("vww_int8", "cortex-m4", 0.81),
    ("resnet8_int8", "cortex-m55", 0.35),
)
INSTRUCTIONS = (
    ("resnet8_int8", "cortex-m4", 1.04),
    ("resnet8_int8", "cortex-m55", 1.05),
    ("kws_int8", "cortex-m4", 1.26),
    ("vww_int8", "cortex-m4", 1.07),
)


@cache
def deployment(name: str, target: str, optimize: str) -> Deployment:
    return Deployment(
        network_file(name), target, Options(optimize="ram") if optimize == "ram" else Options(tiler="whole")
    )


def run(name: str, target: str, optimize: str, folder: Path, *, trace: bool) -> RunResult:
    plan = deployment(name, target, optimize)
    runner = plan.platform.runners[0]
    with np.load(vectors_file(name)) as archive:
        inputs = {key.removeprefix("set0/in/"): archive[key] for key in archive.files if key.startswith("set0/in/")}
    job = Job(
        artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=trace,
        sanitize=trace and runner == "host",
    )  # fmt: skip
    result = load_named(("runner", runner)).runners[runner].run(job, folder)
    if trace:
        graph, steps = plan.scheduled.bound.graph, [step.name for step in plan.scheduled.steps]
        verdicts = judge_steps(graph, steps, plan.registry.operators, (inputs,), result.values)
        assert verdicts and [verdict.name for verdict in verdicts if not verdict.exact] == []
    return result


@pytest.mark.parametrize(("name", "target", "most"), BYTES)
def test_rows_take_a_part_of_the_memory(name: str, target: str, most: float) -> None:
    plans = [deployment(name, target, optimize).allocated for optimize in ("ram", "speed")]
    assert ram_bytes(plans[0]) <= most * ram_bytes(plans[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["resnet8_int8", "kws_int8", pytest.param("vww_int8", marks=pytest.mark.long)])
@pytest.mark.parametrize("target", ["generic", "cortex-m4", "cortex-m55"])
def test_what_rows_become_is_exact(name: str, target: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm") if target != "generic" else ():
        tool(one)
    run(name, target, "ram", tmp_path, trace=True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "most"), INSTRUCTIONS)
def test_rows_take_little_more_instructions(
    name: str, target: str, most: float, tmp_path: Path, tool: Callable[[str], str]
) -> None:
    for one in ("arm-none-eabi-gcc", "qemu-system-arm"):
        tool(one)
    counts = [
        run(name, target, optimize, tmp_path / optimize, trace=False).counts["instructions"]
        for optimize in ("ram", "speed")
    ]
    assert counts[0] <= most * counts[1]


@pytest.mark.parametrize("share", [0.9, 0.6, 0.45])
def test_a_limit_alone_is_kept(share: float) -> None:
    limit = int(share * ram_bytes(deployment("resnet8_int8", "generic", "speed").allocated))
    plan = Deployment(network_file("resnet8_int8"), "generic", Options(memory={"ram": limit}))
    assert ram_bytes(plan.allocated) <= limit


def test_only_a_limit_takes_kernels_that_are_much_slower() -> None:
    """As docs/design/line-buffers.md says of `--optimize ram`."""
    least = deployment("kws_int8", "cortex-m4", "ram")
    limited = Deployment(network_file("kws_int8"), "cortex-m4", Options(memory={"ram": ram_bytes(least.allocated) - 1}))
    assert ram_bytes(limited.allocated) < ram_bytes(least.allocated)
    assert "TW5035" in {note.code for note in limited.diagnostics}
    assert "TW5035" not in {note.code for note in least.diagnostics}


@pytest.mark.slow
@pytest.mark.parametrize("sick", [0, 2, 8])
def test_a_kernel_that_is_wrong_is_named_by_its_step(sick: int) -> None:
    """Its value is nowhere whole: rows are seen as they are made."""
    made = Deployment(network_file("kws_int8"), "generic", Options(optimize="ram"))
    name = made.scheduled.steps[sick].name
    assert any(region.line_buffers and name in region.steps[:-1] for region in made.tiled.regions)
    made.__dict__["artifact"] = emit(_broken(made.program, f"_{sick:02}_"), EmitOptions())
    shown = validate(made, HostRunner(), vectors_of(made, None, 1))
    assert [step.name for step in shown.steps if not step.exact] == [name]
    assert shown.fault is not None and shown.fault.where.startswith(f"step '{name}'")
    assert len(shown.steps) == len(made.scheduled.steps) and not shown.verdict.inner


def _broken(program: Program, number: str) -> Program:
    """One bit of what a step's kernel computes in each call is another."""
    wrong = Raw(text="((uint8_t *)(void *)y)[0] ^= 4u;")

    def changed(statement: Statement) -> tuple[Statement, ...]:
        computes = isinstance(statement, KernelCall) and statement.kernel.startswith("portable.")
        return (statement, wrong) if computes else (statement,)

    def part(one: Part) -> Part:
        return replace(one, body=replaced(one.body, changed)) if number in one.function else one

    return replace(program, steps=tuple(replace(step, parts=tuple(map(part, step.parts))) for step in program.steps))
