"""A core for sixteen channels at once that somebody else ships: values stand in blocks of sixteen channels, padded
where there are twenty; what is between computes on blocks, too, and values are converted where blocks begin and end.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilewright.config.options import Options
from tilewright.deployment import Deployment
from tilewright.ir.graphs.stored_sites import stored_values
from tilewright.runners.twin import TwinRunner
from tilewright.testing.cluster import offering, registry_for
from tilewright.validation.validation import validate, vectors_of

PROJECT = Path(__file__).parent / "acme_blocks"
CHANNELS = 20
RUNNER = TwinRunner(seeds=(0, 1))


@cache
def vendor() -> ModuleType:
    """The vendor's module, as if it were installed."""
    sys.path.insert(0, str(PROJECT))
    import acme_blocks

    return acme_blocks


class Quantised:
    """A model of int8 that is being written down."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(7)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def scaled(self, op: str, value: str, scale: float, zero_point: int) -> str:
        return self.node(op, value, self.constant(np.float32(scale)), self.constant(np.int8(zero_point)))

    def real(self, value: str, scale: float, zero_point: int = 0) -> str:
        return self.scaled("DequantizeLinear", value, scale, zero_point)

    def weights(self, *shape: int) -> str:
        return self.real(self.constant(self.random.integers(-90, 91, shape).astype(np.int8)), 2**-8)

    def stored(self, value: str, scale: float, zero_point: int) -> str:
        return self.real(self.scaled("QuantizeLinear", value, scale, zero_point), scale, zero_point)


@cache
def model() -> bytes:
    """conv -> add -> conv -> pool -> fully connected, of 20 and 36 channels."""
    draft = Quantised()
    x = draft.real("x", 2**-6, 3)
    first = draft.stored(draft.node("Conv", x, draft.weights(CHANNELS, CHANNELS, 3, 3), pads=[1] * 4), 2**-4, -7)
    total = draft.stored(draft.node("Add", first, x), 2**-4, 5)
    second = draft.node("Conv", total, draft.weights(36, CHANNELS, 3, 3), pads=[0, 1, 1, 0], strides=[2, 1])
    pooled = draft.node("MaxPool", draft.stored(second, 2**-3, -3), kernel_shape=[2, 2], strides=[2, 2])
    flat = draft.node("Flatten", pooled)
    y = draft.node("Gemm", flat, draft.weights(36 * 3 * 4, 10))
    y = draft.scaled("QuantizeLinear", y, 2**-2, 1)
    ends = [
        helper.make_tensor_value_info("x", TensorProto.INT8, [1, CHANNELS, 12, 9]),
        helper.make_tensor_value_info(y, TensorProto.INT8, [1, 10]),
    ]
    graph = helper.make_graph(draft.nodes, "g", ends[:1], ends[1:], draft.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]).SerializeToString()


def deployment(pad_bytes: int | None = None, **options: Any) -> Deployment:
    module: Any = vendor()
    platform = module.ACME_BLOCKS
    memories = tuple(
        replace(memory, size_bytes=pad_bytes) if memory.name == "pad" and pad_bytes else memory
        for memory in platform.memories
    )
    registry = offering(registry_for(replace(platform, memories=memories)), module.CONV, module.POOL)
    return Deployment(model(), "acme-blocks", Options(**options), registry)


FORMS = ["ToStored", "QConv@stored", "QAdd", "QConv@stored", "MaxPool@stored", "FromStored"]


def test_blocks_begin_at_the_input_and_end_behind_the_pool() -> None:
    plan = deployment()
    bound = plan.bound
    assert [node.op for node in bound.graph.nodes][: len(FORMS)] == FORMS
    stored = stored_values(bound.graph, plan.registry.operators)
    shapes = [bound.graph.tensors[name].shape for name in stored]
    assert shapes == [(1, 2, 12, 9, 16)] * 3 + [(1, 3, 6, 8, 16), (1, 3, 3, 4, 16)]
    assert [value.stored.fill for value in stored.values()] == [0, -7, 4, -3, None]  # 4: (-7 + 7) + (0 - 3) / 4, + 5
    (note,) = (each for each in bound.diagnostics if each.code == "TW5081")
    padding = 3 * 12 * 12 * 9 + 12 * 6 * 8 + 12 * 3 * 4
    assert note.message == f"5 values have axis 1 in groups of 16: {padding:,} B of padding in all, 2 conversions"


@pytest.mark.slow
@pytest.mark.parametrize("pad_bytes", [None, 1 << 17, 4 << 10])
def test_it_computes_what_the_reference_does(pad_bytes: int | None) -> None:
    """In tiles, untiled, and in groups of layers with as little memory as there is. Padding does not count, elements
    all do.
    """
    plan = deployment(pad_bytes)
    validation = validate(plan, RUNNER, vectors_of(plan, None, 2))
    assert validation.verdict.passed
    assert all(step.bit_equal for step in validation.verdict.steps)
