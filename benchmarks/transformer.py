"""Stacks of transformer blocks as ONNX, made from a seed: for measuring how compilation grows with the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NODES_PER_BLOCK = 29


@dataclass(frozen=True)
class Shape:
    """Of every block: tokens, features, heads, features inside the fully connected part."""

    tokens: int = 32
    features: int = 64
    heads: int = 4
    inner: int = 128


def stack(nodes: int, shape: Shape = Shape(), seed: int = 0) -> bytes:
    """A float32 model of whole blocks, as many as come closest to `nodes` ONNX nodes."""
    draft = _Draft(shape, seed)
    value = "x"
    for block in range(max(1, round(nodes / NODES_PER_BLOCK))):
        value = draft.block(f"b{block}", value)
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, shape.tokens, shape.features])
        for name in ("x", value)
    ]
    graph = helper.make_graph(draft.nodes, "stack", ends[:1], ends[1:], draft.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model.SerializeToString()


class _Draft:
    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.random = shape, np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def block(self, name: str, value: str) -> str:
        """Attention and a fully connected part, each after a normalisation and around a residual: 29 nodes."""
        s = self.shape
        wide = s.features // s.heads
        normal = self.normalised(f"{name}.before", value)
        parts = {}
        for part, order in (("q", (0, 2, 1, 3)), ("k", (0, 2, 3, 1)), ("v", (0, 2, 1, 3))):
            made = self.dense(f"{name}.{part}", normal, s.features, s.features)
            split = self.reshaped(f"{name}.{part}.split", made, (1, s.tokens, s.heads, wide))
            parts[part] = self.node("Transpose", f"{name}.{part}.heads", [split], perm=order)
        scores = self.node("MatMul", f"{name}.scores", [parts["q"], parts["k"]])
        scale = self.constant(f"{name}.scale", np.float32(wide**-0.5))
        weights = self.node("Softmax", f"{name}.softmax", [self.node("Mul", f"{name}.scaled", [scores, scale])], axis=3)
        mixed = self.node("MatMul", f"{name}.mixed", [weights, parts["v"]])
        joined = self.node("Transpose", f"{name}.join", [mixed], perm=(0, 2, 1, 3))
        flat = self.reshaped(f"{name}.flat", joined, (1, s.tokens, s.features))
        attended = self.node("Add", f"{name}.residual", [self.dense(f"{name}.o", flat, s.features, s.features), value])
        normal = self.normalised(f"{name}.after", attended)
        inner = self.node("Relu", f"{name}.relu", [self.dense(f"{name}.up", normal, s.features, s.inner)])
        return self.node("Add", f"{name}.out", [self.dense(f"{name}.down", inner, s.inner, s.features), attended])

    def normalised(self, name: str, value: str) -> str:
        """Over the features."""
        ends = [self.constant(f"{name}.{end}", self.drawn(self.shape.features)) for end in ("scale", "bias")]
        return self.node("LayerNormalization", name, [value, *ends], axis=-1)

    def dense(self, name: str, value: str, inside: int, outside: int) -> str:
        """A product with weights, and a bias."""
        weights = self.constant(f"{name}.w", self.drawn(inside, outside) / inside)
        product = self.node("MatMul", f"{name}.product", [value, weights])
        return self.node("Add", name, [product, self.constant(f"{name}.b", self.drawn(outside))])

    def reshaped(self, name: str, value: str, shape: tuple[int, ...]) -> str:
        """The same elements under another shape."""
        return self.node("Reshape", name, [value, self.constant(f"{name}.shape", np.array(shape, np.int64))])

    def node(self, op: str, name: str, inputs: list[str], **attributes: Any) -> str:
        """Appends it; its output has its name."""
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def constant(self, name: str, array: Any) -> str:
        """Appends it."""
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def drawn(self, *shape: int) -> Any:
        """Values around 0."""
        return self.random.normal(size=shape).astype(np.float32)
