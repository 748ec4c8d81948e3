"""Nodes side by side: names of their own, constants stay, each is judged alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from chained_product import CHAIN

from tilewright.ir.programs.runner import Job, RunResult
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.testing.one_step import vocabulary
from tilewright.testing.operator_sites import site_of
from tilewright.testing.side_by_side import side_by_side

X, W = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((3, 2), np.float32)
CASES = [
    (site_of(vocabulary()["Neg"], [X]), [X]),
    (site_of(vocabulary()["MatMul"], [X, W], constants=(1,)), [X, W]),
    (site_of(vocabulary()["Neg"], [X]), [X]),
]


def test_every_node_has_names_of_its_own() -> None:
    many = side_by_side(CASES)
    assert [node.name for node in many.graph.verify().nodes] == ["n0_Neg", "n1_MatMul", "n2_Neg"]
    assert list(many.feeds) == ["n0_in0", "n1_in0", "n2_in0"] == list(many.graph.inputs)
    assert list(many.graph.constants) == ["n1_in1"]
    assert many.graph.outputs == ("n0_out0", "n1_out0", "n2_out0")


def test_an_operand_that_is_left_out_stays_so() -> None:
    arrays = [np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 2, 2), np.float32), None]
    unit = {"kernel_shape": (2, 2), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "group": 1}
    many = side_by_side([(site_of(vocabulary()["Conv"], arrays, unit), arrays)])
    assert many.graph.nodes[0].inputs == ("n0_in0", "n0_in1", "") and len(many.feeds) == 2


def test_steps_are_judged_alone() -> None:
    many = side_by_side(CASES)
    plan = many.deployment(CLUSTER.name, registry=registry_for(CLUSTER))
    assert {step.name for step in plan.scheduled.steps} == {"n0_Neg", "n1_MatMul", "n2_Neg"}
    values = {"n0_out0": -X, "n1_out0": X @ W, "n2_out0": X}
    verdicts = many.judge(plan, RunResult(outputs=(values,), values=(values,)))
    assert {verdict.name: verdict.exact for verdict in verdicts} == {"n0_Neg": True, "n1_MatMul": True, "n2_Neg": False}


def test_a_run_has_every_input_once() -> None:
    many = side_by_side(CASES[:1])
    plan = many.deployment(CLUSTER.name, registry=registry_for(CLUSTER))
    jobs: list[Job] = []

    class Noting:
        name = summary = "noting"

        def available(self) -> None:
            return None

        def run(self, job: Job, folder: Path) -> RunResult:
            jobs.append(job)
            return RunResult(outputs=())

    many.run(plan, Noting(), folder=Path(), trace=True)
    (job,) = jobs
    assert job.input_sets == (many.feeds,) and job.trace and not job.sanitize
    assert replace(job, trace=False).prefix == plan.prefix


def test_a_chain_keeps_what_its_nodes_read() -> None:
    inputs = [X, W, None, np.ones((2, 2), np.float32)]
    many = side_by_side([(site_of(CHAIN, inputs, constants=(1,)), inputs)])
    (node,) = many.graph.nodes
    first, second = many.graph.site(node).members()
    assert (node.name, first.node.inputs) == ("n0_MatMul_Add", ("n0_in0", "n0_in1"))
    assert second.input(0).name == first.output.name == "n0_inner0"
    assert second.node.outputs == node.outputs == ("n0_out0",)
