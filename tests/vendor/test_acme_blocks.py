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
from tilewright.ir.machines.platform import Memory
from tilewright.runners.host import HostRunner
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


@pytest.mark.slow
@pytest.mark.parametrize(("ram_bytes", "code"), [(6000, "TW5036"), (4500, "TW5082")])
def test_in_one_memory_blocks_are_computed_row_by_row_or_given_up(tmp_path: Path, ram_bytes: int, code: str) -> None:
    module: Any = vendor()
    memories = (Memory(name="ram", size_bytes=ram_bytes), Memory(name="rom", size_bytes=1 << 20, kind="const"))
    platform = replace(
        module.ACME_BLOCKS, memories=memories, copies=(), backing="", inner="", runners=("host",)
    )  # fmt: skip
    plan = Deployment(
        model(), "acme-blocks", Options(), offering(registry_for(platform), module.CONV, module.POOL)
    )  # fmt: skip
    assert plan.allocated.tiled.scheduled.steps
    assert code in {note.code for note in plan.diagnostics}
    assert validate(plan, HostRunner(), vectors_of(plan, None, 1)).verdict.passed


LAYERS = """\
import numpy as np
from tilewright.api.graph import Requant
from tilewright.api.testing import Sample


def pytest_tilewright_layers():
    numbers = np.random.default_rng(1)
    image, weights = (numbers.integers(-99, 99, shape).astype(np.int8) for shape in ((1, 20, 7, 5), (18, 20, 3, 2)))
    window = {"kernel_shape": (3, 2), "strides": (2, 1), "dilations": (1, 2), "pads": (1, 0, 1, 2), "ceil_mode": 0}
    requant = Requant(scale=(2.0**-10,), zero_point=-5, low=-100, high=127)
    attributes = {**window, "group": 1, "requant": requant, "output_type": "i8", "x_zero_point": 3}
    return [
        Sample(op="QConv", kind="twenty", inputs=(image, weights), attributes=attributes, constants=(1,)),
        Sample(op="MaxPool", kind="twenty", inputs=(image,), attributes=window),
    ]
"""


@pytest.mark.slow
def test_it_is_installed_checked_and_tried(build_site: Any, tmp_path: Path) -> None:
    site = build_site(PROJECT)
    network = tmp_path / "network.onnx"
    network.write_bytes(model())
    checked = site.tilewright("check", str(network), "--target", "acme-blocks", "--layers")
    assert checked.returncode == 0, checked.stderr
    assert "is stored as [1, 2, 12, 9, 16]: axis 1 in groups of 16, padding -7; 1,296 B of padding" in checked.stdout
    assert "TW5081" in checked.stderr
    (tmp_path / "conftest.py").write_text(LAYERS, encoding="utf-8")
    tried = site.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tilewright-target", "acme-blocks", str(tmp_path)
    )
    assert tried.returncode == 0, tried.stdout
