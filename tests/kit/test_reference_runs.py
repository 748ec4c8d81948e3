"""Plans carried out beside the reference: what is right passes, and every difference is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference_runs
from portable_plans import portable_planner
from reference_runs import demand_reference, hooked_program
from row_networks import ONE_MEMORY
from tilewright.ir.graphs.graph import Graph
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.tensors.dtypes import DType
from tilewright.testing.one_step import vocabulary
from tilewright.testing.sketch import Sketch

FEEDS = {"x": np.arange(6, dtype=np.float32)}


@cache
def plan() -> Allocated:
    """(x + x) * x, in two steps."""
    sketch = Sketch(operators=vocabulary())
    x = sketch.input("x", DType.F32, (6,))
    planner = portable_planner()
    return planner.plan(planner.bind(sketch.finish(sketch.node("Mul", (sketch.node("Add", (x, x)), x))), ONE_MEMORY))


@pytest.mark.slow
def test_what_is_right_passes(tmp_path: Path) -> None:
    demand_reference(plan(), FEEDS, tmp_path)


@pytest.mark.slow
def test_a_wrong_output_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other way round: it is the reference that changes."""
    (output,) = plan().tiled.scheduled.bound.graph.outputs

    def other(graph: Graph, feeds: Mapping[str, Any], operators: Any) -> dict[str, Any]:
        return {**right(graph, feeds, operators), output: np.zeros(6, np.float32)}

    right = reference_runs.run
    monkeypatch.setattr(reference_runs, "run", other)
    with pytest.raises(AssertionError, match=output):
        demand_reference(plan(), FEEDS, tmp_path)


@pytest.mark.slow
def test_a_step_that_is_not_exact_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = reference_runs.judge_steps
    monkeypatch.setattr(
        reference_runs, "judge_steps", lambda *given: [replace(one, exact=False) for one in right(*given)]
    )
    with pytest.raises(AssertionError):
        demand_reference(plan(), FEEDS, tmp_path)


def test_hooks_are_called_for_every_step() -> None:
    assert hooked_program(plan()).prefix == "net"
