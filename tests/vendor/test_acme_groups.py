"""Steps of cores that are tiled together with one of the Acme NPU: while the engine has a tile, the cores finish the
one before and compute the other steps for that. Right on the twin, in the time that the estimate says, and taken where
that is faster.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from acme_engine import RUNNER, files, vendor
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.machines.kernel import Call, Finish, TileShape
from tilewright.ir.programs.runner import Job
from tilewright.lower import lower
from tilewright.testing.cluster import registry_for
from tilewright.tile.cost.job_overlap import jobs_overlap
from tilewright.tile.cost.tile_boxes import boxes_of
from tilewright.tile.machine import ScheduledMachine
from tilewright.tile.tile_buffers import analysis_of_region
from tilewright.validation.validation import validate, vectors_of

COUNT = 9000
X = (np.arange(COUNT) * 7).astype(np.int8)
DRIVER = """\
static void acme_submit3(const int8_t *x, int32_t *sums, const int32_t *n, const int32_t *s)
{
    for (int32_t c = 0; c < n[0]; ++c)
        for (int32_t h = 0; h < n[1]; ++h)
            for (int32_t w = 0; w < n[2]; ++w)
                sums[(c * n[1] + h) * n[2] + w] = x[c * s[0] + h * s[1] + w * s[2]];
}
static void acme_join3(int32_t behind) { (void)behind; }
static void acme_limit3(const int32_t *sums, int8_t *y, const int32_t *n, const int32_t *s, const int32_t *job,
                        int32_t low, int32_t high)
{
    for (int32_t c = 0; c < n[0]; ++c)
        for (int32_t h = 0; h < n[1]; ++h)
            for (int32_t w = 0; w < n[2]; ++w) {
                const int32_t v = sums[(c * job[0] + h) * job[1] + w];
                y[c * s[0] + h * s[1] + w * s[2]] = (int8_t)(v < low ? low : v > high ? high : v);
            }
}
"""


def images(call: Call) -> dict[str, object]:
    """Where a window of an image, or a core's share of it, is."""
    y, x, node = call.operands["Y"], call.operands["X"], call.site.node
    job = call.job.get("Y", y)
    at = [f"({mine} - {whole})" for mine, whole in zip(y.origin[1:], job.origin[1:], strict=True)]
    return {
        "low": int(node.number("min", -128)),
        "high": int(node.number("max", 127)),
        "n": ", ".join(y.extents[1:]),
        "sx": ", ".join(map(str, x.strides[1:])),
        "sy": ", ".join(map(str, y.strides[1:])),
        "job": ", ".join(job.extents[2:]),
        "first": f"({at[0]} * {job.extents[2]} + {at[1]}) * {job.extents[3]} + {at[2]}",
    }


def image_sums(tile: TileShape) -> int:
    """Of two jobs."""
    return 2 * -(-4 * tile.extent("c") * tile.extent("h") * tile.extent("w") // 8) * 8


def limits_of_images(job_cycles: float) -> Any:
    """A kernel of the engine for images, of which an element takes so long."""
    array = "(const int32_t[])"

    def elements(tile: TileShape) -> int:
        return tile.extent("c") * tile.extent("h") * tile.extent("w")

    return replace(
        vendor().CLIP,
        name="acme.clip3",
        match=lambda site: None if len(site.output.shape) == 4 else "is no image",
        access="n c h w : X[n,c,h,w] -> Y[n,c,h,w]",
        values=images,
        scratch_bytes=image_sums,
        cycles=lambda tile: 40.0 + job_cycles * elements(tile),
        source=DRIVER,
        wait="acme_join3(${behind});",
        call=f"acme_submit3(${{X}}, (int32_t *)${{scratch}}, {array}{{${{n}}}}, {array}{{${{sx}}}});",
        finish=Finish(
            call=f"acme_limit3((const int32_t *)${{scratch}} + (${{first}}), ${{Y}}, {array}{{${{n}}}}, "
            f"{array}{{${{sy}}}}, {array}{{${{job}}}}, ${{low}}, ${{high}});",
            parallel=("h",),
            cycles=lambda tile: 2.0 * elements(tile),
        ),
    )


def model(nodes: list[Any], shape: list[int], inputs: str = "x") -> bytes:
    limits = [numpy_helper.from_array(np.int8(value), f"at{value}") for value in (-100, 90)]
    ends = [[helper.make_tensor_value_info(n, TensorProto.INT8, shape) for n in names] for names in (inputs, "z")]
    graph = helper.make_graph(nodes, "g", *ends, limits)
    return bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString())


def deployed(text: bytes, kernel: Any, options: Options | None = None) -> Deployment:
    npu: Any = vendor()
    registry = registry_for(npu.ACME_NPU)
    registry = replace(registry, kernels={**registry.kernels, kernel.name: kernel})
    return Deployment(text, "acme-npu", options or Options(), registry)


def chain(job_cycles: float, options: Options | None = None) -> Deployment:
    """A vector limited by the engine, and turned round twice by the cores."""
    nodes = [
        helper.make_node("Clip", ["x", "at-100", "at90"], ["y"], "job"),
        helper.make_node("Neg", ["y"], ["n"], "one"),
        helper.make_node("Abs", ["n"], ["z"], "two"),
    ]
    kernel = replace(vendor().CLIP, cycles=lambda tile: 40.0 + job_cycles * tile.extent("i"))
    return deployed(model(nodes, [COUNT]), kernel, options)


def overlapping(plan: Deployment) -> list[tuple[str, ...]]:
    """The groups whose jobs overlap."""
    allocated = plan.allocated
    machine = ScheduledMachine(allocated.tiled.scheduled, plan.registry.operators, allocated.decisions)
    result = []
    for group in allocated.tiled.groups:
        region = group.region
        if len(region.steps) > 1 and jobs_overlap(
            boxes_of(analysis_of_region(machine, region), region.hops, region.forms)
        ):
            result.append(region.steps)
    return result


def cycles_of(plan: Deployment, folder: Path) -> float:
    artifact = files(lower(plan.allocated, plan.registry.operators, plan.prefix))
    job = Job(artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": X},))
    found = RUNNER.run(job, folder)
    np.testing.assert_array_equal(found.outputs[0]["z"], np.abs(np.clip(X, -100, 90)))
    return float(found.counts["cycles"])


@pytest.mark.slow
@pytest.mark.parametrize(("job_cycles", "gain"), [(1.0, 1.25), (4.0, 1.65), (8.0, 1.45)])
def test_the_longer_of_engine_and_cores_is_what_a_group_takes(job_cycles: float, gain: float, tmp_path: Path) -> None:
    """The clock of the twin is the estimate, and a tenth more than the engine, or the cores, at most. Layer by layer,
    and in a group without a second buffer, each waits for the other.
    """
    plan = chain(job_cycles)
    assert overlapping(plan) == [("job", "one", "two")]
    cycles = cycles_of(plan, tmp_path / "group")
    assert cycles == pytest.approx(sum(group.cycles for group in plan.allocated.tiled.groups), abs=1)
    (group,) = plan.allocated.tiled.groups
    tiles = -(-COUNT // group.region.hops[-1].nest[0].size)
    assert cycles <= 1.10 * max(job_cycles * COUNT + 40 * tiles, 5 * COUNT)
    assert cycles_of(chain(job_cycles, Options(groups=1)), tmp_path / "alone") > gain * cycles
    single = chain(job_cycles, Options(buffering="single"))
    assert overlapping(single) == []
    assert sum(group.cycles for group in single.allocated.tiled.groups) > cycles


def random_chain(seed: int) -> Deployment:
    """An image limited by the engine, then windows, signs and a second input, in a scratchpad of 2 to 4 KiB."""
    chance = random.Random(seed)
    shape = [1, chance.randint(2, 6), chance.randint(9, 30), chance.randint(9, 30)]
    nodes, value = [helper.make_node("Clip", ["x", "at-100", "at90"], ["v0"], "job")], "v0"
    count = chance.randint(1, 3)
    for number in range(1, count + 1):
        op, after = chance.choice(("MaxPool", "MaxPool", "Neg", "Max")), "z" if number == count else f"v{number}"
        inputs = [value, "o"] if op == "Max" else [value]
        windows: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]} if op == "MaxPool" else {}
        nodes.append(helper.make_node(op, inputs, [after], f"s{number}", **windows))
        value = after
    used = "xo" if any("o" in node.input for node in nodes) else "x"
    memory = {"pad": chance.choice((2, 3, 4)) << 10}
    return deployed(model(nodes, shape, used), limits_of_images(chance.choice((1.0, 6.0))), Options(memory=memory))


@pytest.mark.slow
def test_random_chains_are_right_step_by_step() -> None:
    """Rows that stay, windows, further inputs; transfers and jobs that end early and late."""
    kinds = set()
    for seed in range(12):
        plan = random_chain(seed)
        if groups := overlapping(plan):
            found = validate(plan, RUNNER, vectors_of(plan, None, 1))
            assert found.passed, f"seed {seed}"
            kinds |= {step for group in groups for step in group}
    assert {"job", "s1", "s2"} <= kinds


def random_branches(seed: int) -> Deployment:
    """One branch with one or two steps that the engine can compute, one without, and the larger of both: vectors of one
    tile or of several, an engine that is preferred or not.
    """
    chance = random.Random(seed)
    count = chance.choice((60, 150, 400, 1500, 2600))
    nodes, ends = [], ["x", "x"]
    for branch, ops in enumerate((chance.choices(("Clip", "Neg"), k=2), chance.choices(("Neg", "Abs"), k=2))):
        for number, op in enumerate(["Clip", *ops[1:]] if not branch else ops):
            inputs = [ends[branch], *(("at-100", "at90") if op == "Clip" else ())]
            ends[branch] = f"v{branch}{number}"
            nodes.append(helper.make_node(op, inputs, [ends[branch]], f"s{branch}{number}"))
    chance.shuffle(nodes)
    nodes.sort(key=lambda node: node.name[2])  # no step before what it reads
    nodes.append(helper.make_node("Max", ends, ["z"], "both"))
    npu: Any = vendor()
    first, engine = npu.ACME_NPU.engines
    platform = replace(npu.ACME_NPU, engines=(first, replace(engine, preferred=chance.random() < 0.5)))
    registry, job_cycles = registry_for(platform), chance.choice((0.5, 1.5, 4.0))
    kernel = replace(npu.CLIP, cycles=lambda tile: 40.0 + job_cycles * tile.extent("i"))
    registry = replace(registry, kernels={**registry.kernels, kernel.name: kernel})
    return Deployment(model(nodes, [count]), "acme-npu", Options(groups=chance.choice((1, None))), registry)


@pytest.mark.slow
def test_random_branches_are_right_and_take_what_was_estimated(tmp_path: Path) -> None:
    """Whatever runs beside whatever; transfers and jobs end early and late."""
    waits = groups = 0
    for seed in range(10):
        plan = random_branches(seed)
        waits, groups = waits + len(plan.allocated.decisions.deferred), groups + len(overlapping(plan))
        found = validate(plan, RUNNER, vectors_of(plan, None, 1))
        assert found.passed, f"seed {seed}"
        artifact = files(lower(plan.allocated, plan.registry.operators, plan.prefix))
        x = np.arange(plan.graph.tensors["x"].shape[0]).astype(np.int8)
        job = Job(artifact=artifact, plan=plan.allocated, prefix=plan.prefix, input_sets=({"x": x},))
        folder = tmp_path / str(seed)
        counts = RUNNER.run(job, folder).counts
        estimate = sum(group.cycles for group in plan.allocated.tiled.groups)
        assert counts["cycles"] == pytest.approx(estimate, rel=0.02), f"seed {seed}"
    assert waits > 0
    assert groups > 0
