"""Networks of quantised convolutions, written a layer at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

_TYPES = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8}


class Draft:
    """A network of layers with quantised operands."""

    def __init__(self, kind: Any, shape: tuple[int, ...], zero: int) -> None:
        self.rng = np.random.default_rng(5)
        self.kind, self.zero, self.value, self.channels = kind, zero, "x", shape[1]
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.input = helper.make_tensor_value_info("x", _TYPES[kind], shape)

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _tail(self, outputs: int, depth: int, spread: bool) -> list[str]:
        """Scales and zero points behind X, and the bias at the end."""
        scales = self.rng.uniform(0.5, 1.5, outputs if spread else ()).astype(np.float32)
        return [
            self.constant(scales), self.constant(np.zeros(scales.shape, np.int8)),
            self.constant(np.float32(60 * np.sqrt(depth))), self.constant(self.kind(self.zero)),
        ]  # fmt: skip

    def conv(
        self, outputs: int, side: int, stride: int = 1, pads: Any = 0, group: int = 1, spread: bool = True,
        weights: tuple[int, int] = (-128, 127), kind: Any = None,
    ) -> None:  # fmt: skip
        """`weights`: least and most, in unsigned bytes where none is negative; `kind`: another type of outputs."""
        least, most = weights
        shape = (outputs, self.channels // group, side, side)
        stored = self.rng.integers(least, most + 1, shape).astype(np.int8 if least < 0 else np.uint8)
        x = [self.value, self.constant(np.float32(1)), self.constant(self.kind(self.zero))]
        if kind:
            self.kind, self.zero = kind, 0
        scales, zeros, y_scale, y_zero = self._tail(outputs, max((most - least) * stored[0].size // 255, 1), spread)
        if least >= 0:
            zeros = self.constant(np.zeros(outputs if spread else (), np.uint8))
        bias = self.constant(self.rng.integers(-3000, 3000, outputs).astype(np.int32))
        named = self.constant(stored)
        self.value = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(
            "QLinearConv", [*x, named, scales, zeros, y_scale, y_zero, bias], [self.value],
            f"n{len(self.nodes)}", strides=[stride] * 2, pads=np.resize(pads, 4).tolist(), group=group,
        ))  # fmt: skip
        self.channels = outputs

    def model(self) -> bytes:
        end = helper.make_tensor_value_info(self.value, _TYPES[self.kind], None)
        graph = helper.make_graph(self.nodes, "g", [self.input], [end], self.constants)
        opsets = [helper.make_opsetid("", 13)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
