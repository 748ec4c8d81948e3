"""Knows how a deployment is proved: run on a runner, every step and every output compared with the exact reference.
Does not know who asks, or how the verdict is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.comparison.moves import LossyRun, exact_spans, lossy_runs, moves_of
from tilewright.comparison.vectors import VectorSet
from tilewright.comparison.verdicts import Drift, Move, OutputVerdict, StepVerdict, Verdict
from tilewright.deployment import Deployment
from tilewright.errors import TilewrightError
from tilewright.ir.log_span import INFO, log_begin, log_span, with_log_span
from tilewright.validation.blame import run_on, with_blame
from tilewright.validation.verdict_text import mismatch, verdict_text
from tilewright.validation.window_streams import unseen_calls, window_stream

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.ir.graphs.graph import Graph
    from tilewright.ir.programs.runner import Runner, RunResult

    Array = npt.NDArray[np.generic]

Wanted = Callable[[Mapping[str, "Array"]], dict[str, "Array"]]


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
        error = mismatch(self.verdict, lambda: _faulty_pass(self.deployment, self.sets))
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
    """With state the sets are frames of one stream; its steps are judged on the state that the run itself has made. The
    graph that is compiled is judged against the graph as imported, before any graph pass. Of long streams: the last.
    """
    from tilewright.comparison.bounds import bounds
    from tilewright.comparison.outputs import judge_outputs, rounds
    from tilewright.comparison.reference import run
    from tilewright.comparison.verdicts import judge_run
    from tilewright.config.recurrent_state import run_stream

    graph, operators = deployment.scheduled.bound.graph, deployment.registry.operators
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
    judged_steps = {step.name for step in judged.steps}
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
        inner=tuple(name for name in executed if name not in judged_steps),
        drift=_drifts(deployment, vectors, graph, reference_values),
        moves=_moves(deployment, vectors),
        windows=windows.judged(result),
        unseen=windows.unseen,
    )


def _drifts(
    deployment: Deployment, vectors: tuple[VectorSet, ...], graph: Graph, values: Sequence[Mapping[str, Array]]
) -> tuple[Drift, ...]:
    """How far `graph`, which has these values, is from the graph as it was imported, and how far passes that may change
    nothing have moved it before, between and after those that may.
    """
    spans = exact_spans(deployment.imported.graph, _lossy_runs(deployment), graph)
    return tuple(
        drift
        for start, end in spans
        for drift in _span_drifts(
            deployment, vectors, start, end, values if end is graph else _computed(deployment, vectors, end)
        )
    )


def _moves(deployment: Deployment, vectors: tuple[VectorSet, ...]) -> tuple[Move, ...]:
    """How far passes that may change what is computed have moved the outputs."""
    return tuple(
        move
        for run in _lossy_runs(deployment)
        for move in moves_of(run, *(_computed(deployment, vectors, each) for each in (run.before, run.after)))
    )


def _lossy_runs(deployment: Deployment) -> tuple[LossyRun, ...]:
    return lossy_runs(deployment.imported.graph, deployment.rewritten.trail)


def _span_drifts(
    deployment: Deployment,
    vectors: tuple[VectorSet, ...],
    start: Graph,
    end: Graph,
    values: Sequence[Mapping[str, Array]],
) -> tuple[Drift, ...]:
    """How far `end`, which has these values, is from `start`. One that is too far as a whole is right where it is so
    pass by pass: values that an early one keeps may have gone behind a later one. Streams are judged as a whole.
    """
    from tilewright.comparison.drift import all_within, stepwise

    result = _drifts_between(deployment, vectors, start, end, values)
    if deployment.slid or all_within(result):
        return result
    return stepwise(result, _between(deployment, start, end), partial(_is_near, deployment, vectors))


def _between(deployment: Deployment, start: Graph, end: Graph) -> list[Graph]:
    """The graphs behind every pass from `start` on to `end`, both of them included."""
    graphs = [deployment.imported.graph, *(item.graph for item in deployment.rewritten.trail if not item.idle)]
    places = {id(graph): at for at, graph in enumerate(graphs)}
    at = places.get(id(start))
    return [start, end] if at is None else [*graphs[at : places.get(id(end), len(graphs))], end]


def _drifts_between(
    deployment: Deployment,
    vectors: tuple[VectorSet, ...],
    start: Graph,
    end: Graph,
    values: Sequence[Mapping[str, Array]],
) -> tuple[Drift, ...]:
    """The same as a whole. Of streams nobody holds what would excuse more."""
    from tilewright.comparison.drift import drifts, excused

    operators = deployment.registry.operators
    before = _computed(deployment, vectors, start, _outputs_of(start) if deployment.slid else dict)
    drifted = drifts(start, before, values)
    return drifted if deployment.slid else excused(drifted, start, end, before, operators)


def _is_near(deployment: Deployment, vectors: tuple[VectorSet, ...], start: Graph, end: Graph) -> bool:
    """Whether it is so as a whole."""
    from tilewright.comparison.drift import all_within

    return all_within(_drifts_between(deployment, vectors, start, end, _computed(deployment, vectors, end)))


def _computed(
    deployment: Deployment, vectors: tuple[VectorSet, ...], graph: Graph, wanted: Wanted = dict
) -> list[dict[str, Array]]:
    """What is wanted of the values of `graph`, of each set; where a window slides, of the whole window of each call
    that is seen.
    """
    from tilewright.comparison.reference import run
    from tilewright.config.recurrent_state import initial_states, next_states

    operators = deployment.registry.operators
    frames = [item.inputs for item in vectors]
    windows = deployment.slid.windows(frames) if deployment.slid else iter(frames)
    unseen = unseen_calls(deployment, vectors)
    states = [state for state in deployment.states if state.input in graph.inputs]
    states_now = initial_states(states)
    computed: list[dict[str, Array]] = []
    for number, frame in enumerate(islice(windows, unseen, None), unseen + 1):
        log_begin("the reference of set %d of %d", number, len(frames))
        values = run(graph, {**frame, **states_now}, operators)
        states_now = next_states(states, values)
        computed.append(wanted(values))
    return computed


def _outputs_of(graph: Graph) -> Wanted:
    """Of a long stream nobody holds all values of all windows."""
    return lambda values: {name: values[name] for name in graph.outputs}


def _faulty_pass(deployment: Deployment, vectors: tuple[VectorSet, ...]) -> str:
    """The graph pass that takes an output too far from what the model, or a lossy pass before it, computes."""
    from tilewright.comparison.drift import guilty_pass

    start, trail = deployment.imported.graph, deployment.rewritten.trail
    for record in trail:
        if record.lossy and not record.idle:
            start = record.graph
        elif guilty := guilty_pass([(record.name, record.graph)], partial(_is_right, deployment, vectors, start)):
            return guilty
    return ""


def _is_right(deployment: Deployment, vectors: tuple[VectorSet, ...], start: Graph, end: Graph) -> bool:
    drifted = _span_drifts(deployment, vectors, start, end, _computed(deployment, vectors, end))
    return all(drift.within for drift in drifted)


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
