"""Knows how a stream of windows is judged: every call by the whole network on its window, and of a long stream only the
last calls step by step as well. Does not know how steps are judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tilewright.comparison.outputs import judge_values
from tilewright.comparison.reference import run
from tilewright.comparison.vectors import VectorSet
from tilewright.comparison.verdicts import OutputVerdict
from tilewright.deployment import Deployment
from tilewright.ir.log_span import log_begin

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.config.recurrent_state import RecurrentState
    from tilewright.ir.programs.runner import RunResult

    Array = npt.NDArray[np.generic]

SEEN = 100  # calls of a stream that are judged step by step


def unseen_calls(deployment: Deployment, vectors: Sequence[VectorSet]) -> int:
    """How many calls at the beginning are judged by what they hand out alone: of streams of windows all but the last
    `SEEN`, in which no window holds what was before the stream. None where outputs are given for the calls, or where a
    state is no part of the window.
    """
    alone = deployment.slid and len(deployment.slid.states) == len(deployment.states)
    return max(0, len(vectors) - SEEN) if alone and not any(item.outputs for item in vectors) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStream:
    """`expected`: what the whole network gives on every window. Of the calls that are not seen, their outputs; of the
    last of these, which `begun` needs, and of the calls behind it all that the stream computes and keeps.
    """

    deployment: Deployment
    unseen: int
    expected: tuple[Mapping[str, Array], ...]

    def judged(self, result: RunResult) -> tuple[OutputVerdict, ...]:
        """What every call gave, and what the seen ones computed and kept. Integers are equal."""
        slid = self.deployment.slid
        if slid is None:
            return ()
        got = [{**values, **outputs} for outputs, values in zip(result.outputs, result.values, strict=True)]
        inner = [name for name in self.expected[-1] if name not in slid.window.outputs]
        verdicts = (
            *judge_values(slid.graph, slid.window.outputs, got, self.expected),
            *judge_values(slid.graph, inner, got[self.unseen :], self.expected[self.unseen :]),
        )
        return tuple(
            replace(verdict, within=verdict.within if verdict.is_float else not verdict.different)
            for verdict in verdicts
        )

    @property
    def begun(self) -> tuple[RecurrentState, ...]:
        """The states as the first call that is seen should find them."""
        states = self.deployment.states
        if not self.unseen:
            return states
        left = self.expected[self.unseen - 1]
        return tuple(replace(state, initial=left[state.output]) for state in states)

    def begun_in(self, result: RunResult) -> dict[str, Array]:
        """The inputs that are state, as the run has left them to that call."""
        left = _whole(result.values[self.unseen - 1]) if self.unseen else {}
        return {state.input: left[state.output] for state in self.deployment.states if state.output in left}


def window_stream(deployment: Deployment, vectors: Sequence[VectorSet]) -> WindowStream:
    """The whole network on every window, one after the other; nothing where no window slides."""
    slid, unseen, expected = deployment.slid, unseen_calls(deployment, vectors), []
    if slid is None:
        return WindowStream(deployment=deployment, unseen=0, expected=())
    expect, operators = slid.expected(), deployment.registry.operators
    for number, window in enumerate(slid.windows([item.inputs for item in vectors]), 1):
        log_begin("the whole network on window %d of %d", number, len(vectors))
        values = expect(run(slid.window, window, operators))
        expected.append(values if number >= unseen else {name: values[name] for name in slid.window.outputs})
    return WindowStream(deployment=deployment, unseen=unseen, expected=tuple(expected))


def _whole(values: Mapping[str, Array]) -> dict[str, Array]:
    """Without those of which some elements were not computed."""
    import numpy as np

    return {name: array for name, array in values.items() if not isinstance(array, np.ma.MaskedArray)}
