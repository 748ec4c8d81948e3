"""Makes small networks of the dialect for tests, as its tools write them, floats that hold whole numbers; and one layer
of every operator that it has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilewright.api.graph import MultiplyShift, Requant
from tilewright.api.testing import Sample


def scalar(value: float) -> Any:
    """An attribute as a tensor of one float, as quantlib's exporter has them."""
    return numpy_helper.from_array(np.array(value, np.float32))


class Net:
    """A network under construction. Values are declared float."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.shapes: list[Any] = []

    def input(self, name: str, shape: Sequence[int], kind: int = TensorProto.FLOAT) -> str:
        """An input of the network."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """Whole numbers as floats, or other numbers as `dtype`."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array).astype(dtype), name))
        return name

    def weights(self, *shape: int, least: int = -128, most: int = 127) -> str:
        """Random whole numbers."""
        return self.constant(self.rng.integers(least, most + 1, shape))

    def node(
        self, op: str, *inputs: str, domain: str = "", outputs: int = 1, shape: Any = None, **attributes: Any
    ) -> str:
        """A node; its first output."""
        names = [f"v{len(self.nodes)}" + (f"_{index}" if index else "") for index in range(outputs)]
        if shape is not None:
            self.shapes.append(helper.make_tensor_value_info(names[0], TensorProto.FLOAT, list(shape)))
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names[0]

    def shift(
        self, x: str, mul: Any, add: Any, div: int = 256, *, signed: int = 1, levels: int = 256, **more: Any
    ) -> str:
        """A RequantShift."""
        numbers = {"div": scalar(div), "signed": scalar(signed), "n_levels_out": scalar(levels)}
        return self.node("RequantShift", x, self.constant(mul), self.constant(add), **{**numbers, **more})

    def model(self, *outputs: str, opset: int = 13, domains: Sequence[str] = ()) -> ModelProto:
        """The model with these outputs."""
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, ends, self.constants, value_info=self.shapes)
        opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(domain, 1) for domain in domains)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def requantised(acc: Any, mul: Any, add: Any, div: int, low: int, high: int) -> Any:
    """What RequantShift means, written down once more: halves up."""
    shift = div.bit_length() - 1
    half = 1 << (shift - 1) if shift else 0
    return np.clip((np.asarray(acc, np.int64) * mul + add + half) >> shift, low, high)


def arrays_of(model: ModelProto, rng: Any, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Random inputs of these types."""
    found = {}
    for value in model.graph.input:
        dtype = np.dtype(kinds.get(value.name, "int8"))
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        limits = np.iinfo(dtype)
        found[value.name] = rng.integers(limits.min, int(limits.max) + 1, shape).astype(dtype)
    return found


def dialect_layers() -> tuple[Sample, ...]:
    """One layer of every operator that the package brings."""
    rounding = MultiplyShift(multiplier=(3,), addend=(5,), shift=(4,), bits=64)
    requant = Requant(scale=(3 / 16,), zero_point=0, low=-128, high=127, rounding=rounding)
    x, wide = np.arange(-60, 60, dtype=np.int8).reshape(2, 4, 15), np.arange(1, 121, dtype=np.int32).reshape(2, 4, 15)
    row, limits = np.arange(15, dtype=np.int32), {"shift": 3, "low": -128, "high": 127}
    words = {"coeffa": 1, "coeffb": 86, "coeffc": 3888, "log2": 64, "levels": 256}
    found: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
        ("integer.Shift", (wide,), {"requant": requant, "axis": 1}),
        ("integer.PairSum", (x, x), {"requant": requant, "sign": 1}),
        ("integer.GELU", (x,), {"b": -40, "one": 1743}),
        ("integer.Hardswish", (x,), {"three": 122, "six": 244, "one_over_six": 42}),
        ("integer.Softmax", (x,), words),
        ("integer.ITAMax", (x,), {"group": 5, "levels": 256}),
        ("integer.LayerNorm", (x, row, row), limits),
        ("integer.RMSNorm", (x, row), limits),
        ("integer.Mean", (x,), {}),
        ("integer.Div", (wide, wide), {"delta": 16, "eta": 3, "eps": 1}),
    )
    return tuple(Sample(op=op, inputs=inputs, attributes=attributes) for op, inputs, attributes in found)
