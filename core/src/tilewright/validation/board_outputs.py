"""Knows whether what a board has computed is what the reference computes. Does not know steps, nor what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tilewright.errors import Exit, TilewrightError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.deployment import Deployment
    from tilewright.ir.programs.runner import RunResult

    Array = npt.NDArray[np.generic]


def demand_right_outputs(deployment: Deployment, inputs: Mapping[str, Array], result: RunResult) -> str:
    """A line that says what was compared. TilewrightError TW7139 (exit 6) where outputs are something else."""
    from tilewright.comparison.outputs import judge_values
    from tilewright.comparison.reference import run
    from tilewright.config.recurrent_state import run_stream

    if not result.outputs:
        return "outputs are not compared: the firmware does not send them as they are"
    graph, operators = deployment.scheduled.bound.graph, deployment.registry.operators
    _, known = run_stream([inputs], deployment.states, lambda values: run(graph, values, operators))
    verdicts = judge_values(graph, graph.outputs, result.outputs, known)
    wrong = [verdict for verdict in verdicts if not verdict.within]
    if wrong:
        details = tuple(
            f"'{verdict.name}': {verdict.different} of {verdict.elements} elements differ" for verdict in wrong
        )
        message = "the board computes something else than the reference"
        raise TilewrightError("TW7139", message, details=details, exit_code=Exit.MISMATCH)
    different = sum(verdict.different for verdict in verdicts)
    elements = sum(verdict.elements for verdict in verdicts)
    return f"outputs: {elements - different} of {elements} elements equal the reference" + (
        ", the others within its tolerance" if different else ""
    )
