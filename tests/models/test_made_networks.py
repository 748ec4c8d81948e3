"""Networks made for families of operators: every step as its reference on this machine, on a Cortex-M4 in QEMU, and
tiled for Siracusa on the twin.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_networks import NETWORKS, made

from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.programs.runner import Job
from tilewright.plugins import load_named

SCRATCHPAD_BYTES = 12 << 10  # less than what most of them have alive at once
PLACES = {
    "host": ("generic", "host", {}),
    "qemu-cortex-m": ("cortex-m4", "qemu-cortex-m", {}),
    "twin": ("siracusa", "twin", {"l1": SCRATCHPAD_BYTES}),
}
TOOLS = {"qemu-cortex-m": ("arm-none-eabi-gcc", "qemu-system-arm")}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NETWORKS))
@pytest.mark.parametrize("place", PLACES)
def test_every_step_is_right(place: str, name: str, tmp_path: Path, tool: Callable[[str], str]) -> None:
    for program in TOOLS.get(place, ("cc",)):
        tool(program)
    target, runner, memory = PLACES[place]
    model, inputs = made(name)
    plan = Deployment(model, target, Options(name="made", memory=memory))
    job = Job(artifact=plan.artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=(inputs,), trace=True)
    result = load_named(("runner", runner)).runners[runner].run(job, tmp_path)
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, (inputs,), result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    assert len(verdicts) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_none_is_whole_in_the_scratchpad(name: str) -> None:
    plan = Deployment(made(name)[0], "siracusa", Options(name="made", memory={"l1": SCRATCHPAD_BYTES}))
    assert plan.worst_case_buffer_size["l1"] <= SCRATCHPAD_BYTES
