"""Knows how far graph passes have moved what a network computes, on the sets of a validation.
Does not know how far is too far (`comparison.drift`), nor anything of the generated program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from tilewright.comparison.drift import all_within, drifts, excused, guilty_pass, stepwise
from tilewright.comparison.moves import LossyRun, exact_spans, lossy_runs, moves_of
from tilewright.comparison.reference import run
from tilewright.comparison.vectors import VectorSet
from tilewright.comparison.verdicts import Drift, Move
from tilewright.config.recurrent_state import initial_states, next_states
from tilewright.deployment import Deployment
from tilewright.ir.log_span import log_begin
from tilewright.validation.window_streams import unseen_calls

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.ir.graphs.graph import Graph

    Array = npt.NDArray[np.generic]

Values = Sequence[Mapping[str, "Array"]]  # of each set: name -> array
Wanted = Callable[[Mapping[str, "Array"]], dict[str, "Array"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassDrift:
    """The graph passes of a deployment, each judged on every set; where a window slides, on the window of each call."""

    deployment: Deployment
    vectors: tuple[VectorSet, ...]

    def drifts(self, graph: Graph, values: Values) -> tuple[Drift, ...]:
        """How far `graph`, which has these values, is from the graph as it was imported, and how far passes that may
        change nothing have moved it before, between and after those that may.
        """
        spans = exact_spans(self.deployment.imported.graph, self._lossy_runs(), graph)
        return tuple(
            drift
            for start, end in spans
            for drift in self._drifts_of_span(start, end, values if end is graph else self._values(end))
        )

    def moves(self) -> tuple[Move, ...]:
        """How far passes that may change what is computed have moved the outputs."""
        return tuple(
            move
            for lossy in self._lossy_runs()
            for move in moves_of(lossy, self._values(lossy.before), self._values(lossy.after))
        )

    def faulty_pass(self) -> str:
        """The pass that takes an output too far from what the model, or a lossy pass before it, computes."""
        start = self.deployment.imported.graph
        for record in self.deployment.rewritten.trail:
            if record.lossy and not record.idle:
                start = record.graph
            elif guilty := guilty_pass([(record.name, record.graph)], partial(self._is_right, start)):
                return guilty
        return ""

    def _lossy_runs(self) -> tuple[LossyRun, ...]:
        return lossy_runs(self.deployment.imported.graph, self.deployment.rewritten.trail)

    def _is_right(self, start: Graph, end: Graph) -> bool:
        return all(drift.within for drift in self._drifts_of_span(start, end, self._values(end)))

    def _drifts_of_span(self, start: Graph, end: Graph, values: Values) -> tuple[Drift, ...]:
        """How far `end`, which has these values, is from `start`. What is too far over all passes is right where each
        pass is right: values that an early one keeps may have gone behind a later one. Streams are judged over all.
        """
        over_all = self._drifts_over_all(start, end, values)
        if self.deployment.slid or all_within(over_all):
            return over_all
        return stepwise(over_all, self._graphs_between(start, end), self._is_near)

    def _graphs_between(self, start: Graph, end: Graph) -> list[Graph]:
        """The graphs behind every pass from `start` on to `end`, both of them included."""
        trail = (record.graph for record in self.deployment.rewritten.trail if not record.idle)
        graphs = [self.deployment.imported.graph, *trail]
        places = {id(graph): at for at, graph in enumerate(graphs)}
        at = places.get(id(start))
        return [start, end] if at is None else [*graphs[at : places.get(id(end), len(graphs))], end]

    def _is_near(self, start: Graph, end: Graph) -> bool:
        return all_within(self._drifts_over_all(start, end, self._values(end)))

    def _drifts_over_all(self, start: Graph, end: Graph, values: Values) -> tuple[Drift, ...]:
        """The drift over all passes between two graphs. Of streams nobody holds what would excuse more."""
        slid = self.deployment.slid
        before = self._values(start, _outputs_of(start) if slid else dict)
        drifted = drifts(start, before, values)
        return drifted if slid else excused(drifted, start, end, before, self.deployment.registry.operators)

    def _values(self, graph: Graph, wanted: Wanted = dict) -> list[dict[str, Array]]:
        """What is wanted of the values of `graph`, of each set or call that is seen."""
        frames, slid = [vector.inputs for vector in self.vectors], self.deployment.slid
        windows = slid.windows(frames) if slid else iter(frames)
        unseen = unseen_calls(self.deployment, self.vectors)
        states = [state for state in self.deployment.states if state.input in graph.inputs]
        states_now = initial_states(states)
        computed: list[dict[str, Array]] = []
        for number, frame in enumerate(islice(windows, unseen, None), unseen + 1):
            log_begin("the reference of set %d of %d", number, len(frames))
            values = run(graph, {**frame, **states_now}, self.deployment.registry.operators)
            states_now = next_states(states, values)
            computed.append(wanted(values))
        return computed


def _outputs_of(graph: Graph) -> Wanted:
    """Of a long stream nobody holds all values of all windows."""
    return lambda values: {name: values[name] for name in graph.outputs}
