"""One operator from arrays to a schedule: constants stay constants, the kernels are those given, a field can change."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright.errors import TilewrightError
from tilewright.testing.cluster import CLUSTER
from tilewright.testing.one_step import one_step, portable_kernels, vocabulary, with_kernel

MATRIX = [np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)]


def test_the_vocabulary_and_the_kernels_are_the_cores_once() -> None:
    assert vocabulary() is vocabulary() and portable_kernels() is portable_kernels()
    assert {kernel.op for kernel in portable_kernels().values()} <= set(vocabulary())
    assert all(name == kernel.name for name, kernel in portable_kernels().items())


def test_what_is_not_constant_is_an_input() -> None:
    scheduled = one_step("MatMul", MATRIX, CLUSTER, constants=(1,))
    graph = scheduled.bound.graph
    assert (graph.inputs, tuple(graph.constants), graph.outputs) == (("in0",), ("in1",), ("out0",))
    assert [step.name for step in scheduled.steps] == ["node"]
    assert one_step("MatMul", MATRIX, CLUSTER).bound.graph.inputs == ("in0", "in1")


def test_only_the_kernels_that_are_given_are_bound() -> None:
    name = "portable.matmul_f32"
    bound = one_step("MatMul", MATRIX, CLUSTER, kernels={name: portable_kernels()[name]}).bound
    assert bound.bindings["node"].kernel.name == name
    with pytest.raises(TilewrightError, match="TW"):
        one_step("MatMul", MATRIX, CLUSTER, kernels={})


def test_a_field_of_a_kernel_changes_in_the_binding_and_in_the_layer() -> None:
    bound = one_step("MatMul", MATRIX, CLUSTER).bound
    other = with_kernel(bound, "node", parallel=(), rank=7)
    assert other.bindings["node"].kernel == other.layers["node"].kernel
    assert (other.bindings["node"].kernel.rank, other.bindings["node"].kernel.parallel) == (7, ())
    assert bound.bindings["node"].kernel.rank != 7
