"""Knows how a plan is carried out here, under sanitizers where there are some, and compared with the reference.
Does not know how plans are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.comparison.reference import run
from tilewright.comparison.verdicts import judge_steps
from tilewright.emit import EmitOptions, emit
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import Program
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.runners.host import HostRunner
from tilewright.runners.toolchain import find_compiler
from tilewright.testing.one_step import vocabulary
from tilewright.transform import HOOKS, transform

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def hooked_program(plan: Allocated) -> Program:
    """The program of a network `net`, with hooks for every step."""
    return transform(lower(plan, vocabulary(), "net"), (HOOKS,), ("hooks",), {})


def demand_reference(plan: Allocated, feeds: Mapping[str, Array], folder: Path) -> None:
    """AssertionError where an output, of two sets of these inputs, is not the reference's, or what a step makes is not
    right: equal for integers, inside its operator's error model for floats.
    """
    job = Job(
        artifact=emit(hooked_program(plan), EmitOptions(const_format="c")),
        plan=plan,
        prefix="net",
        input_sets=(feeds, feeds),
        trace=True,
        sanitize=find_compiler().sanitizers,
    )
    graph = plan.tiled.scheduled.bound.graph
    expected, found = run(graph, feeds, vocabulary()), HostRunner().run(job, folder)
    for outputs in found.outputs:
        wrong = [name for name in graph.outputs if outputs[name].tobytes() != expected[name].tobytes()]
        assert not wrong, wrong
    steps = [step.name for step in plan.tiled.scheduled.steps]
    verdicts = judge_steps(graph, steps, vocabulary(), job.input_sets, found.values)
    assert verdicts and [one.name for one in verdicts if not one.exact] == []
