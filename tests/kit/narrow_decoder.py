"""A small decoder as large language models have them, whose matrices have 4 bits in blocks: one token a run.

Embedding, blocks of RMS normalisation, rotary positions, attention over a cache, and a gated part, then the logits. The
cache is an output that is the next run's input: the oldest token leaves it where a new one comes. `mask` is 0 for the
tokens that are there, `position` counts runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

Array = npt.NDArray[np.generic]
FLOAT = TensorProto.FLOAT
HIDDEN = -10000.0  # what a place without a token is masked with


@dataclass(frozen=True)
class Shape:
    """What the decoder has of everything."""

    tokens: int = 64  # in the vocabulary
    features: int = 64
    heads: int = 4
    inner: int = 128
    blocks: int = 2
    context: int = 16
    block_size: int = 32


@dataclass(frozen=True)
class Decoder:
    """The model, what `--state` is told, and the bytes of packed weights and of their scales."""

    model: bytes
    states: tuple[str, ...]
    packed_bytes: int
    scale_bytes: int


def decoder(shape: Shape = Shape(), seed: int = 0) -> Decoder:
    """The same for the same seed."""
    draft = _Draft(shape, seed)
    value = draft.embedded()
    for number in range(shape.blocks):
        value = draft.block(f"b{number}", value)
    draft.node("Identity", [draft.product("head", draft.normalised("last", value), shape.tokens)], "logits")
    graph = helper.make_graph(draft.nodes, "decoder", draft.inputs, draft.outputs, draft.constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return Decoder(
        model=model.SerializeToString(), states=tuple(draft.states),
        packed_bytes=draft.packed_bytes, scale_bytes=draft.scale_bytes,
    )  # fmt: skip


class _Draft:
    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.random = shape, np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = [helper.make_tensor_value_info("token", TensorProto.INT64, (1,))]
        self.outputs: list[Any] = [helper.make_tensor_value_info("logits", FLOAT, (1, shape.tokens))]
        self.states: list[str] = []
        self.packed_bytes = self.scale_bytes = 0

    def node(self, op: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [output], output, **attributes))
        return output

    def constant(self, name: str, array: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def state(self, name: str, shape: tuple[int, ...], first: float = 0.0) -> tuple[str, str]:
        """The input, and the name of the output that it is next time."""
        self.inputs.append(helper.make_tensor_value_info(name, FLOAT, shape))
        self.outputs.append(helper.make_tensor_value_info(f"{name}_next", FLOAT, shape))
        self.states.append(f"{name}_next:{name}={first}")
        return name, f"{name}_next"

    def product(self, name: str, x: str, columns: int) -> str:
        """[1, K] times a matrix of 4 bits, as MatMulNBits has it."""
        depth, size = self.shape.inner if name.endswith("down") else self.shape.features, self.shape.block_size
        blocks = -(-depth // size)
        packed = self.random.integers(0, 256, (columns, blocks, size // 2)).astype(np.uint8)
        scales = (0.5 + self.random.random(columns * blocks)).astype(np.float32) * np.float32(0.2 / np.sqrt(depth))
        self.packed_bytes += packed.nbytes
        self.scale_bytes += scales.nbytes
        inputs = [x, self.constant(f"{name}_q", packed), self.constant(f"{name}_s", scales)]
        sizes = {"K": depth, "N": columns, "bits": 4, "block_size": size}
        return self.node("MatMulNBits", inputs, name, domain="com.microsoft", **sizes)

    def normalised(self, name: str, x: str) -> str:
        weight = self.constant(f"{name}_w", (1 + 0.1 * self.random.standard_normal(self.shape.features)).astype("f4"))
        attributes = {"epsilon": 1e-5, "axis": -1, "stash_type": 1}
        return self.node("SimplifiedLayerNormalization", [x, weight], f"{name}_rms", **attributes)

    def embedded(self) -> str:
        """The token's row; mask and angles of this run."""
        s = self.shape
        table = self.constant("table", self.random.standard_normal((s.tokens, s.features)).astype(np.float32))
        mask, later = self.state("mask", (1, s.context), HIDDEN)
        self.shifted("mask", mask, self.constant("there", np.zeros((1, 1), np.float32)), later, axis=1)
        position, next_position = self.state("position", (1, 1))
        self.node("Add", [position, self.constant("one", np.ones((1, 1), np.float32))], next_position)
        half = s.features // s.heads // 2
        rates = self.constant("rates", (100.0 ** (-np.arange(half) / half)).astype(np.float32).reshape(1, half))
        angles = self.node("Mul", [position, rates], "angles")
        for name, op in (("cos", "Cos"), ("sin", "Sin")):
            self.node(op, [angles], name)
        return self.node("Gather", [table, "token"], "embedding", axis=0)

    def shifted(self, name: str, old: str, new: str, output: str, axis: int) -> str:
        """The oldest out, the new one in."""
        ends = [self.constant(f"{name}_{end}", np.array([at], np.int64)) for end, at in (("from", 1), ("to", 2**31))]
        kept = self.node("Slice", [old, *ends, self.constant(f"{name}_axis", np.array([axis]))], f"{name}_kept")
        return self.node("Concat", [kept, new], output, axis=axis)

    def heads(self, name: str, x: str) -> str:
        """[1, features] as [heads, 1, width]."""
        s = self.shape
        split = self.constant(f"{name}_split", np.array([s.heads, 1, s.features // s.heads]))
        return self.node("Reshape", [x, split], f"{name}_heads")

    def turned(self, name: str, x: str) -> str:
        """Both halves of every head, turned by the angles of this position."""
        self.nodes.append(
            helper.make_node("Split", [x], [f"{name}_a", f"{name}_b"], f"{name}_halves", axis=2, num_outputs=2)
        )
        a, b = f"{name}_a", f"{name}_b"
        parts = [
            self.node("Mul", [half, turn], f"{name}_{at}")
            for at, (half, turn) in enumerate(((a, "cos"), (b, "sin"), (a, "sin"), (b, "cos")))
        ]
        left, right = (self.node(op, pair, f"{name}_{op}") for op, pair in (("Sub", parts[:2]), ("Add", parts[2:])))
        return self.node("Concat", [left, right], f"{name}_turned", axis=2)

    def block(self, name: str, x: str) -> str:
        s = self.shape
        width, normal = s.features // s.heads, self.normalised(f"{name}_before", x)
        q, k, v = (self.heads(f"{name}_{part}", self.product(f"{name}_{part}", normal, s.features)) for part in "qkv")
        news = {"keys": self.turned(f"{name}_k", k), "values": v}
        caches = {}
        for part, new in news.items():
            old, later = self.state(f"{name}_{part}", (s.heads, s.context, width))
            caches[part] = self.shifted(f"{name}_{part}", old, new, later, axis=1)
        across = self.node("Transpose", [caches["keys"]], f"{name}_across", perm=[0, 2, 1])
        scores = self.node("MatMul", [self.turned(f"{name}_q", q), across], f"{name}_scores")
        scaled = self.node("Mul", [scores, self.constant(f"{name}_scale", np.float32(width**-0.5))], f"{name}_scaled")
        masked = self.node("Add", [scaled, "mask_next"], f"{name}_masked")
        mixed = self.node(
            "MatMul", [self.node("Softmax", [masked], f"{name}_soft", axis=2), caches["values"]], f"{name}_mix"
        )
        row = self.node("Reshape", [mixed, self.constant(f"{name}_row", np.array([1, s.features]))], f"{name}_flat")
        x = self.node("Add", [x, self.product(f"{name}_out", row, s.features)], f"{name}_middle")
        normal = self.normalised(f"{name}_inside", x)
        gate, up = (self.product(f"{name}_{part}", normal, s.inner) for part in ("gate", "up"))
        swish = self.node("Mul", [gate, self.node("Sigmoid", [gate], f"{name}_sigmoid")], f"{name}_swish")
        inner = self.node("Mul", [swish, up], f"{name}_inner")
        return self.node("Add", [x, self.product(f"{name}_down", inner, s.features)], f"{name}_after")
