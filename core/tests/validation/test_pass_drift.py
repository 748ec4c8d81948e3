"""What graph passes move, on the sets of a validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tilewright.comparison.reference import run
from tilewright.comparison.vectors import VectorSet
from tilewright.deployment import Deployment
from tilewright.testing.cluster import CLUSTER, registry_for
from tilewright.validation.pass_drift import PassDrift
from tilewright.validation.validation import vectors_of


def deployment() -> Deployment:
    """A product by a constant and a sum with one, which a pass may join."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in "xy"]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    constants = {"w": np.eye(3, dtype=np.float32), "b": np.ones(3, np.float32)}
    stored = [numpy_helper.from_array(array, name) for name, array in constants.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Deployment(model.SerializeToString(), CLUSTER.name, registry=registry_for(CLUSTER))


def test_passes_that_change_nothing_have_no_drift_and_no_moves() -> None:
    made = deployment()
    passes = PassDrift(deployment=made, vectors=vectors_of(made, None, 2))
    graph, operators = made.graph, made.registry.operators
    values = [run(graph, vector.inputs, operators) for vector in passes.vectors]
    assert [drift.within for drift in passes.drifts(graph, values)] == [True]
    assert (passes.moves(), passes.faulty_pass()) == ((), "")


def test_a_pass_that_changes_a_constant_is_named() -> None:
    made = deployment()
    vectors = (VectorSet(inputs={"x": np.ones((2, 3), np.float32)}, outputs={}),)
    passes = PassDrift(deployment=made, vectors=vectors)
    records = [record for record in made.rewritten.trail if not record.idle]
    assert records, "the sum goes into the product"
    last = records[-1]
    constants = {name: array + 1 for name, array in last.graph.constants.items()}
    broken = replace(last, graph=replace(last.graph, constants=constants))
    rewritten = replace(made.rewritten, trail=(*made.rewritten.trail[: made.rewritten.trail.index(last)], broken))
    made.__dict__["rewritten"] = rewritten
    assert passes.faulty_pass() == last.name
