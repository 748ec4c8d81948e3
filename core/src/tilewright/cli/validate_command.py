"""Knows `tilewright validate`: generate, build, run, and compare every step and every output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from tilewright.cli.completing import offered
from tilewright.cli.flags import layout_flag, model_flags, options_from
from tilewright.cli.memory_flags import io_flag
from tilewright.cli.output import progress, say, send_json, show_diagnostics
from tilewright.cli.running import ready_runner, trace_flag, write_trace
from tilewright.errors import Exit, TilewrightError
from tilewright.report.text import align

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.deployment import Deployment
    from tilewright.ir.graph import Graph
    from tilewright.ir.runner import Runner, RunResult
    from tilewright.validate.comparison import Drift, Verdict
    from tilewright.validate.vectors import VectorSet

    Array = npt.NDArray[np.generic]


@click.command("validate")
@model_flags
@io_flag("--place-io")
@click.option(
    "--on",
    "runner_name",
    default="",
    metavar="RUNNER",
    help="Where to run; default: the target's first.",
    shell_complete=offered("runner"),
)
@click.option(
    "--io",
    "vectors",
    type=click.Path(path_type=Path),
    metavar="FILE.npz",
    help="Test vectors setK/in/TENSOR and setK/out/TENSOR. Default: random inputs, outputs from the reference.",
)
@click.option("--sets", type=click.IntRange(min=1), default=2, show_default=True, help="How many random sets.")
@click.option("--sanitize", is_flag=True, help="Run under AddressSanitizer and UndefinedBehaviorSanitizer.")
@layout_flag
@trace_flag
@click.option("--json", "json_target", metavar="FILE|-", help="Write the verdict as JSON.")
def command(
    runner_name: str,
    vectors: Path | None,
    sets: int,
    sanitize: bool,
    layout: Literal["single", "split"],
    trace_file: Path | None,
    json_target: str | None,
    **flags: Any,
) -> None:
    """Build MODEL's generated code, run it, and compare it with the exact numpy reference, step by step."""
    from tilewright.deployment import Deployment
    from tilewright.snapshot.atomic_folder import demand_writable_file

    if json_target and json_target != "-":
        demand_writable_file(Path(json_target))
    if trace_file:
        demand_writable_file(trace_file)
    deployment = Deployment(flags["model"], flags["target"], replace(options_from(flags), layout=layout))
    runner = ready_runner(deployment, runner_name)
    given = _vectors(deployment, vectors, sets)
    progress(f"running {len(given)} set(s) on {runner.name}")
    ran = _run(deployment, runner, given, sanitize=sanitize, timeline=trace_file is not None)
    verdict = _judge(deployment, given, ran)
    if trace_file:
        write_trace(deployment, ran, trace_file)
    show_diagnostics(deployment.diagnostics, flags["strict"])
    result = _as_json(deployment, runner, given, verdict)
    if json_target:
        send_json(result, json_target)
    if json_target != "-":
        _show(verdict)
    if not verdict.passed:
        raise _mismatch(verdict, lambda: _guilty(deployment, given))


def _vectors(deployment: Deployment, file: Path | None, sets: int) -> tuple[VectorSet, ...]:
    from tilewright.validate.vectors import random_vectors, read_vectors

    if file is not None:
        return read_vectors(file, deployment.inputs, deployment.outputs, deployment.registry.operators)
    return random_vectors(deployment.inputs, sets, deployment.options.seed)


def _judge(deployment: Deployment, given: tuple[VectorSet, ...], result: RunResult) -> Verdict:
    """With state the sets are frames of one stream; its steps are judged on the state that the run itself has made. The
    graph that is compiled is judged against the graph as imported, before any graph pass.
    """
    from tilewright.config.recurrent_state import run_stream
    from tilewright.validate.comparison import Verdict, judge_outputs, judge_steps
    from tilewright.validate.drift import drifts
    from tilewright.validate.reference import run

    graph, operators = deployment.scheduled.bound.graph, deployment.registry.operators
    frames, known = run_stream(
        [item.inputs for item in given], deployment.states, lambda values: run(graph, values, operators)
    )
    for frame, before in zip(frames[1:], result.values, strict=False):
        frame.update({one.input: before[one.output] for one in deployment.states if one.output in before})
    expected = [item.outputs or values for item, values in zip(given, known, strict=True)]
    executed = [step.name for step in deployment.scheduled.steps]
    steps = judge_steps(graph, executed, operators, frames, result.values)
    judged = {step.name for step in steps}
    return Verdict(
        steps=steps,
        outputs=judge_outputs(graph, result.outputs, expected),
        inner=tuple(name for name in executed if name not in judged),
        drift=drifts(deployment.imported.graph, _computed(deployment, given, deployment.imported.graph), known),
    )


def _computed(deployment: Deployment, given: tuple[VectorSet, ...], graph: Graph) -> list[dict[str, Array]]:
    """Every value of `graph`, of each set."""
    from tilewright.config.recurrent_state import run_stream
    from tilewright.validate.reference import run

    operators = deployment.registry.operators
    return run_stream([item.inputs for item in given], deployment.states, lambda values: run(graph, values, operators))[
        1
    ]


def _guilty(deployment: Deployment, given: tuple[VectorSet, ...]) -> str:
    """The graph pass that takes an output too far from what the model computes."""
    from tilewright.validate.drift import guilty_pass

    imported = deployment.imported.graph
    trail = [(record.name, record.graph) for record in deployment.rewritten.trail]
    before = _computed(deployment, given, imported)
    return guilty_pass(imported, trail, before, lambda graph: _computed(deployment, given, graph))


def _run(
    deployment: Deployment, runner: Runner, given: tuple[VectorSet, ...], *, sanitize: bool, timeline: bool
) -> RunResult:
    from tilewright.ir.runner import Job
    from tilewright.snapshot.atomic_folder import temporary_folder

    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=tuple(item.inputs for item in given),
        trace=True,
        sanitize=sanitize,
        timeline=timeline,
    )
    with temporary_folder() as folder:
        return runner.run(job, folder)


def _as_json(deployment: Deployment, runner: Runner, given: tuple[VectorSet, ...], verdict: Verdict) -> dict[str, Any]:
    return {
        "status": "pass" if verdict.passed else "fail",
        "model": deployment.prefix,
        "target": deployment.platform.name,
        "runner": runner.name,
        "sets": len(given),
        "steps": [asdict(step) for step in verdict.steps],
        "inner_steps": list(verdict.inner),
        "outputs": [asdict(output) for output in verdict.outputs],
        "drift": [{**asdict(one.verdict), "share_of_spread": one.share, "within": one.within} for one in verdict.drift],
    }


def _show(verdict: Verdict) -> None:
    rows = [("output", "elements", "different", "largest difference", "allowed", "argmax")]
    for item in verdict.outputs:
        argmax = "same" if item.argmax_equal else "differs"
        numbers = (f"{item.elements:,}", f"{item.different:,}", f"{item.max_difference:g}", f"{item.allowed:g}")
        rows.append((item.name, *numbers, argmax))
    for line in align(rows, right=(1, 2, 3, 4)):
        say(line)
    exact = sum(step.bit_equal for step in verdict.steps)
    say(f"{exact} of {len(verdict.steps)} steps are exact{_nearly(verdict)}{_inside(len(verdict.inner))}")
    for line in _drifted(verdict):
        say(line)
    say("PASS" if verdict.passed else "FAIL")


def _drifted(verdict: Verdict) -> Iterator[str]:
    """How far graph passes have moved each output, if they have."""
    for name, moved, share in ((one.verdict.name, one.verdict, one.share) for one in verdict.drift):
        if moved.different:
            yield (
                f"graph passes moved {moved.different:,} of {moved.elements:,} elements of '{name}', by "
                f"{moved.max_difference:g} at most ({100 * share:.2g} % of its spread)"
            )


def _nearly(verdict: Verdict) -> str:
    """What is said of steps on floats that are right and not bit-equal, and how far they are from being wrong."""
    near = [step for step in verdict.steps if step.exact and not step.bit_equal]
    if not near:
        return ""
    most = 100 * max(step.of_allowed for step in near)
    return f", {len(near)} inside the error model of floats (at most {most:.0f} % of what it allows)"


def _inside(count: int) -> str:
    """What is said of steps that nobody can see alone."""
    return f", and by them {count} more inside groups, whose values never exist whole" if count else ""


def _mismatch(verdict: Verdict, guilty: Callable[[], str]) -> TilewrightError:
    """TW6002 (exit 6): the first step that is wrong, or else the first output; TW6003 where only graph passes are."""
    wrong = [step for step in verdict.steps if not step.exact]
    if not wrong and (far := [one for one in verdict.drift if not one.within]):
        return _too_far(far[0], guilty())
    if wrong:
        where = f"step '{wrong[0].name}' ({wrong[0].op})"
        reason = f"{wrong[0].different:,} elements differ, by {wrong[0].max_difference:g} at most"
        fix = "report it, with the model: every step must equal its reference"
    else:
        output = next(item for item in verdict.outputs if not item.within)
        where = f"output '{output.name}'"
        reason = f"{output.different:,} of {output.elements:,} elements differ, by {output.max_difference:g} at most"
        fix = "compare the vectors: every step equals its reference, so these come from another model or runtime"
    return TilewrightError(
        "TW6002",
        f"validation failed: {len(wrong)} of {len(verdict.steps)} steps differ from the reference",
        where=where,
        details=(reason,),
        fix=(fix,),
        exit_code=Exit.MISMATCH,
    )


def _too_far(drift: Drift, graph_pass: str) -> TilewrightError:
    verdict = drift.verdict
    return TilewrightError(
        "TW6003",
        "the graph that is compiled does not compute what the model does",
        where=f"graph pass '{graph_pass}'" if graph_pass else "after the graph passes",
        details=(
            f"output '{verdict.name}': {verdict.different:,} of {verdict.elements:,} elements differ, by "
            f"{verdict.max_difference:g} at most, {100 * drift.share:.3g} % of its spread",
        ),
        fix=("tilewright plugins     says whose pass that is: report it there, with the model",),
        exit_code=Exit.MISMATCH,
    )
