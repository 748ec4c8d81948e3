"""Knows how a deployment is proved: run on a runner, every step and every output compared with the exact reference.
Does not know who asks, or how the verdict is told.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.comparison.vectors import VectorSet
from tilewright.comparison.verdicts import OutputVerdict, StepVerdict, Verdict
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.log_span import INFO, log_span, with_log_span
from tilewright.validation.blame import run_on, with_blame
from tilewright.validation.verdict_text import mismatch, verdict_text
from tilewright.validation.window_streams import unseen_calls, window_stream

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.ir.programs.runner import Runner, RunResult

    Array = npt.NDArray[np.generic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """What one run has shown. Printed, it is what `tilewright validate` prints."""

    deployment: Deployment
    runner: str
    sets: tuple[VectorSet, ...]
    ran: RunResult
    verdict: Verdict

    @property
    def passed(self) -> bool:
        """Every step is inside its error model, every output right, and graph passes moved nothing too far."""
        return self.verdict.passed

    @property
    def steps(self) -> tuple[StepVerdict, ...]:
        """Every step that can be seen alone, over all sets."""
        return self.verdict.steps

    @property
    def outputs(self) -> tuple[OutputVerdict, ...]:
        """Every output of the network, over all sets."""
        return self.verdict.outputs

    @property
    def data(self) -> dict[str, Any]:
        """The same as `tilewright validate --json` writes."""
        return {
            "status": "pass" if self.passed else "fail",
            "model": self.deployment.prefix,
            "target": self.deployment.platform.name,
            "runner": self.runner,
            "sets": len(self.sets),
            "steps": [asdict(step) for step in self.steps],
            "inner_steps": list(self.verdict.inner),
            "outputs": [asdict(output) for output in self.outputs],
            "windows": [asdict(output) for output in self.verdict.windows],
            "drift": [
                {**asdict(drift.verdict), "share_of_spread": drift.share, "within": drift.within}
                for drift in self.verdict.drift
            ],
            "moves": [asdict(move) for move in self.verdict.moves],
        }

    @property
    def fault(self) -> TilewrightError | None:
        """What is wrong, as the error TW6002 or TW6003 that the command ends with; None where all is well."""
        if self.passed:
            return None
        from tilewright.validation.pass_drift import PassDrift

        passes = PassDrift(deployment=self.deployment, vectors=self.sets)
        error = mismatch(self.verdict, passes.faulty_pass)
        return with_blame(error, self.deployment)

    def __str__(self) -> str:
        return verdict_text(self.verdict)

    def __repr__(self) -> str:
        return str(self)


def validate(
    deployment: Deployment,
    runner: Runner,
    vectors: tuple[VectorSet, ...],
    *,
    sanitize: bool = False,
    timeline: bool = False,
) -> Validation:
    """Build what was generated, run it on `given`, and judge every step and every output. TilewrightError of the runner
    (exit 7) where it cannot be built or run; what is computed wrongly is no error here, see `Validation.fault`.
    """
    ran = _run(deployment, runner, vectors, sanitize=sanitize, timeline=timeline)
    verdict = _judge(deployment, vectors, ran)
    return Validation(deployment=deployment, runner=runner.name, sets=vectors, ran=ran, verdict=verdict)


def vectors_of(deployment: Deployment, file: Path | None, sets: int) -> tuple[VectorSet, ...]:
    """Those of an npz file, or random ones, drawn with the seed. TilewrightError TW6001 (exit 2) of the file."""
    from tilewright.comparison.vectors import random_vectors, read_vectors

    if file is not None:
        return read_vectors(file, deployment.inputs, deployment.outputs, deployment.registry.operators)
    return random_vectors(deployment.inputs, sets, deployment.options.seed, deployment.graph)


@with_log_span(INFO, "judge: every step and output against its reference")
def _judge(deployment: Deployment, vectors: tuple[VectorSet, ...], result: RunResult) -> Verdict:
    """With state the sets are frames of one stream, each judged on the state that the run has made; of long streams the
    last frames. Graph passes are judged against the graph as imported."""
    from tilewright.comparison.bounds import bounds
    from tilewright.comparison.outputs import judge_outputs, rounds
    from tilewright.comparison.reference import run
    from tilewright.comparison.verdicts import judge_run
    from tilewright.config.recurrent_state import run_stream
    from tilewright.validation.pass_drift import PassDrift

    graph, operators = deployment.scheduled.bound.graph, deployment.registry.operators
    passes = PassDrift(deployment=deployment, vectors=vectors)
    windows = window_stream(deployment, vectors)
    seen, outputs = vectors[windows.unseen :], result.outputs[windows.unseen :]
    frames, reference_values = run_stream(
        [item.inputs for item in seen], windows.begun, lambda values: run(graph, values, operators)
    )
    frames[0] |= windows.begun_in(result)
    executed = [step.name for step in deployment.scheduled.steps]
    run_values = [{**output, **own} for output, own in zip(outputs, result.values[windows.unseen :], strict=True)]
    fed_back = {state.input: state.output for state in deployment.states}
    judged = judge_run(graph, executed, operators, frames, run_values, fed_back)
    return Verdict(
        steps=judged.steps,
        outputs=judge_outputs(
            graph,
            outputs,
            judged.outputs,
            reference_values,
            right=all(step.exact for step in judged.steps),
            given=[item.outputs for item in seen],
            rounding=rounds(deployment.imported.graph),
            bounds={} if deployment.states else bounds(graph, reference_values, operators),
        ),
        inner=tuple(name for name in executed if name not in {step.name for step in judged.steps}),
        drift=passes.drifts(graph, reference_values),
        moves=passes.moves(),
        windows=windows.judged(result),
        unseen=windows.unseen,
    )


def _run(
    deployment: Deployment, runner: Runner, vectors: tuple[VectorSet, ...], *, sanitize: bool, timeline: bool
) -> RunResult:
    from tilewright.ir.programs.runner import Job
    from tilewright.snapshot.atomic_folder import temporary_folder

    job = Job(
        artifact=deployment.artifact,
        plan=deployment.allocated,
        prefix=deployment.prefix,
        input_sets=tuple(item.inputs for item in vectors),
        trace=True,
        untraced=max(0, unseen_calls(deployment, vectors) - 1),  # the last of them shows with what the next one begins
        sanitize=sanitize,
        timeline=timeline,
    )
    with temporary_folder() as folder, log_span(INFO, "run: runner '%s'", runner.name):
        return run_on(runner, job, folder, deployment)
