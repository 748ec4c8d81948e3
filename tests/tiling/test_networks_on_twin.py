"""Five networks, tiled for the made-up cluster and run on the twin: exact steps, no byte too many in the
scratchpad, the plan's clock and the twin's close together; and mistakes put into the generated C are named.

The whole matrix is `benchmarks/twin_matrix.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from networks import network_file, vectors_file
from tilewright.comparison.verdicts import judge_steps
from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.emit import EmitOptions, emit
from tilewright.errors import TilewrightError
from tilewright.ir.plans.stages import Artifact
from tilewright.ir.programs.runner import Job, RunResult
from tilewright.lower import lower
from tilewright.report.report_json import build_report
from tilewright.report.trace import build_trace
from tilewright.runners.twin import RACE, TwinRunner
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.transform import transform

Buffering = Literal["single", "double"]


@cache
def deployment(name: str, scratchpad_bytes: int, buffering: Buffering, groups: int | None = None) -> Deployment:
    registry = registry_for(CLUSTER)
    options = Options(memory={"l1": scratchpad_bytes}, buffering=buffering, groups=groups)
    return Deployment(network_file(name), CLUSTER.name, options, registry)


def artifact(plan: Deployment) -> Artifact:
    """With the marks of where tiles live."""
    program = lower(plan.allocated, plan.registry.operators, plan.prefix)
    return emit(transform(program, tuple(plan.registry.code_passes.values()), ("lifetimes",)), EmitOptions())


def job_of(name: str, plan: Deployment, *, sanitize: bool = False, files: Artifact | None = None) -> Job:
    with np.load(vectors_file(name)) as archive:
        inputs = {tensor: archive[f"set0/in/{tensor}"] for tensor in plan.inputs}
    return Job(
        artifact=files or artifact(plan),
        plan=plan.allocated,
        prefix=plan.prefix,
        input_sets=(inputs,),
        trace=True,
        sanitize=sanitize,
    )


def demand_exact(plan: Deployment, job: Job, result: RunResult) -> None:
    executed = [step.name for step in plan.scheduled.steps]
    graph = plan.scheduled.bound.graph
    verdicts = judge_steps(graph, executed, plan.registry.operators, job.input_sets, result.values)
    assert [verdict.name for verdict in verdicts if not verdict.exact] == []
    inside = {value for group in plan.tiled.groups for value in group.region.internal_values}  # never whole anywhere
    outputs = {node.name: node.outputs for node in graph.nodes}
    assert len(verdicts) == sum(not inside.issuperset(outputs[name]) for name in executed)


@dataclass(frozen=True)
class Case:
    """One point of the matrix."""

    name: str
    near_kib: int
    buffering: Buffering
    sanitize: bool = False
    clocks_apart: float = 0.03  # at most, of the estimate
    long: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{self.near_kib}K-{self.buffering}{'-sanitized' if self.sanitize else ''}"


CASES = (
    Case("ad_int8", 16, "double"),
    Case("kws_int8", 16, "double", sanitize=True),
    Case("kws_int8", 64, "single", long=True),
    Case("resnet8_int8", 64, "double", long=True),
    Case("resnet8_int8", 16, "single"),
    Case("vww_int8", 16, "double", long=True),
    Case("resnet8_f32", 16, "double", clocks_apart=0.15),  # windows in pieces: the DMA core waits for free channels
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.long if case.long else ()) for case in CASES], ids=str
)
def test_exact_and_within_the_near_memory(case: Case, tmp_path: Path) -> None:
    plan = deployment(case.name, case.near_kib << 10, case.buffering)
    job = job_of(case.name, plan, sanitize=case.sanitize)
    result = TwinRunner().run(job, tmp_path)
    demand_exact(plan, job, result)
    used = plan.worst_case_buffer_size["l1"]
    assert used + CLUSTER.runtime_bytes["l1"] <= case.near_kib << 10
    estimate = sum(group.cycles for group in plan.tiled.groups)
    assert result.counts["cycles"] == pytest.approx(estimate, rel=case.clocks_apart)
    assert set(result.step_counts) >= {step.name for step in plan.scheduled.steps}


@pytest.mark.parametrize(
    "name", ["kws_int8", *(pytest.param(name, marks=pytest.mark.long) for name in ("resnet8_int8", "vww_int8"))]
)
def test_chains_of_four_move_at_most_half(name: str, tmp_path: Path) -> None:
    alone, joined = deployment(name, 64 << 10, "double", 1), deployment(name, 64 << 10, "double", 4)
    report = build_report(joined, artifacts=False)
    moved = report["copies"]["in_bytes"] + report["copies"]["out_bytes"]
    bound = build_report(alone, artifacts=False)["bound_bytes"]
    assert report["bound_bytes"] == bound
    assert moved <= 0.50 * bound
    assert report["traffic_ratio"] == pytest.approx(moved / bound, abs=1e-4)
    assert sum(group.cycles for group in joined.tiled.groups) <= sum(group.cycles for group in alone.tiled.groups)
    assert joined.worst_case_buffer_size["l1"] + CLUSTER.runtime_bytes["l1"] <= 64 << 10
    job = job_of(name, joined)
    demand_exact(joined, job, TwinRunner(seeds=(2,)).run(job, tmp_path))


def test_no_races(tmp_path: Path) -> None:
    plan = deployment("kws_int8", 16 << 10, "double")
    job = job_of("kws_int8", plan)
    demand_exact(plan, job, RACE.run(job, tmp_path))


STEP = "kws_int8_01_qconv"  # the depthwise convolution: X and Y are double buffered over three tiles of rows


def cut(pattern: str, keep: str = "") -> Callable[[str], str]:
    """Leaves out the first match, but for what is to be kept of it."""
    return put(pattern, keep)


def put(pattern: str, new: str) -> Callable[[str], str]:
    """Replaces the first match."""

    def change(text: str) -> str:
        changed, count = re.subn(pattern, new, text, count=1, flags=re.S)
        assert count == 1, pattern
        return changed

    return change


# A wait is one for everything that was started before, so a single missing one may do no harm; none at all does.
# A missing wait or barrier shows as whatever it spoils first.
SYNCHRONISATION = "TW710[3-9]|TW711[024]"

FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "missing wait for a tile": (cut(r"tw_arrived\(&x\[t % 2\]\);"), SYNCHRONISATION),
    "missing waits before a tile": (
        cut(r"(?:tw_arrived\(&x\[t % 2\]\);)(.*?)(?:tw_arrived\(&y\[t % 2\]\);)", keep=r"\1"),
        SYNCHRONISATION,
    ),
    "missing waits for what is resident": (cut(r"(?:tw_arrived\(&\w+\[0\]\);\s*)+"), SYNCHRONISATION),
    "missing barrier before a tile": (cut(r"tw_rt_barrier\(\);"), SYNCHRONISATION),
    "missing barrier after a tile": (cut(r"(?<=bytes\);\n        )tw_rt_barrier\(\);"), SYNCHRONISATION),
    "rewritten source": (put(r"(store_y\(t, l2, &y\[t % 2\]\);)", r"\1 y[t % 2].bytes[1] ^= 1;"), "TW7104"),
    "write beyond the scratchpad": (put(r"(tw_rt_barrier\(\);)", r"\1 l1[1 << 15] = 1;"), "TW7111"),
    "write just beyond the scratchpad": (
        put(r"(tw_rt_barrier\(\);)", r"\1 l1[KWS_INT8_POOL_L1_SIZE] = 1;"),
        "TW7110",
    ),
    "write after release": (put(r"(tw_rt_dead\(w\[0\].bytes, 576u\);)", r"\1 w[0].bytes[9] = 1;"), "TW7110"),
    "read after release": (
        put(r"(tw_rt_dead\(w\[0\].bytes, 576u\);)", r"\1 y[0].bytes[9] = w[0].bytes[9];"),
        "TW7104",
    ),
    "tile smaller than what is copied": (put(r"x\[0\].bytes, 3520u", "x[0].bytes, 3184u"), "TW7114"),
    "tile larger than the buffer": (put(r"x\[0\].bytes, 3520u", "x[0].bytes, 3536u"), "TW7114"),
    "leaked transfer": (cut(r"tw_arrived\(&y\[1\]\);\s*tw_rt_dead\(y\[1\].bytes, 2880u\);"), SYNCHRONISATION),
    "one core leaves": (put(r"(    for \(int32_t t)", r"    if (tw_rt_core() == 3u) { return; }\n\1"), SYNCHRONISATION),
}


# Of each code, and of each way to miss another core, one always.
MORE = {
    "missing wait for a tile",
    "missing waits for what is resident",
    "missing barrier before a tile",
    "write just beyond the scratchpad",
    "read after release",
    "tile smaller than what is copied",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=pytest.mark.long if fault in MORE else ()) for fault in FAULTS]
)
def test_mistakes_in_generated_code_are_named(fault: str, tmp_path: Path) -> None:
    change, code = FAULTS[fault]
    plan = deployment("kws_int8", 16 << 10, "double", 1)
    files = dict(artifact(plan).files)
    text = files["kws_int8.c"].decode("ascii")
    start = text.index(f"TW_STEP void {STEP}(")
    end = text.index("\n}\n", start)
    files["kws_int8.c"] = (text[:start] + change(text[start:end]) + text[end:]).encode("ascii")
    job = replace(job_of("kws_int8", plan, files=Artifact(files=files)), trace=False)
    with pytest.raises(TilewrightError) as caught:
        TwinRunner(seeds=(0, 1)).run(job, tmp_path)
    assert re.fullmatch(code, caught.value.code), f"{caught.value.code} {caught.value.message} {caught.value.details}"


def test_trace_of_a_tiled_network(tmp_path: Path) -> None:
    """Estimate and measurement side by side; nothing happens twice at a time on one track, and all tiles die."""
    plan = deployment("kws_int8", 16 << 10, "double", 1)
    job = replace(job_of("kws_int8", plan), timeline=True)
    result = TwinRunner(seeds=(0,), modes=("lazy",)).run(job, tmp_path)
    assert result.timeline is not None
    trace = build_trace(build_report(plan, artifacts=False), result.timeline, result.clock)
    tracks = {event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    assert {"steps", "cores", "copies of l1"} <= tracks
    for track in tracks:
        spans = sorted((span.begin, span.end) for span in result.timeline.spans if span.track == track)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans)), track
    moved = sum(span.details["bytes"] for span in result.timeline.spans if span.track == "copies of l1")
    assert moved == sum(count for name, count in result.counts.items() if name.startswith("bytes."))
    levels = [level.used_bytes for level in result.timeline.levels if level.memory == "l1"]
    assert 0 < max(levels) <= plan.worst_case_buffer_size["l1"]
    assert levels[-1] == 0


def test_data_moved_by_one_more_core(tmp_path: Path) -> None:
    plan = deployment("ad_int8", 16 << 10, "double", 1)
    job = job_of("ad_int8", plan)
    demand_exact(plan, job, TwinRunner(dma_core=True).run(job, tmp_path))
