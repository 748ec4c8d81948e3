"""Writes float networks down, and puts QuantizeLinear and DequantizeLinear around every operator, as quantisers do.
Scales are those of the values that the float network has on its own inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Array = npt.NDArray[Any]
F32, I64 = np.float32, np.int64
OPSET = 20


@dataclass(slots=True)
class Draft:
    """A float network being written down; what it reads and writes is quantised at the end, but for what is `bare`."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)
    inputs: dict[str, Array] = field(default_factory=dict)
    bare: set[str] = field(default_factory=set)  # values that stay float between two operators

    def input(self, *shape: int) -> str:
        """A float input."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.random.standard_normal(shape).astype(F32)
        return name

    def pick(self, *numbers: int) -> int:
        """One of them."""
        return int(self.random.choice(numbers))

    def constant(self, array: npt.ArrayLike) -> str:
        """A constant; a float one of more than one axis is stored as int8."""
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def weights(self, *shape: int) -> str:
        """Drawn, so small that sums stay about as large as inputs."""
        inside = int(np.prod(shape[1:])) if len(shape) != 2 else shape[0]
        return self.constant((self.random.standard_normal(shape) / np.sqrt(inside)).astype(F32))

    def node(self, op: str, *inputs: str, bare: bool = False, **attributes: Any) -> str:
        """A node of one output; `bare`: no Q and DQ behind it."""
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], f"{op}_{len(self.nodes)}", **attributes))
        if bare:
            self.bare.add(name)
        return name

    def scalar(self, value: float) -> str:
        """A float constant of no axis."""
        return self.constant(np.asarray(value, F32))

    def channels(self, count: int) -> str:
        """A factor, or a shift, for each channel of an image."""
        return self.constant(self.random.uniform(0.5, 1.5, (count, 1, 1)).astype(F32))

    # --- what several networks have

    def scaled(self, x: str, factor: float) -> str:
        """A product with one number, with no Q and DQ behind it."""
        return self.node("Mul", x, self.scalar(factor), bare=True)

    def bare_conv(self) -> str:
        """A convolution of an input, with no Q and DQ behind it."""
        made = self.conv(self.input(1, 4, 6, 6), 4, 8)
        self.bare.add(made)
        return made

    def bare_matmul(self) -> str:
        """A product of two inputs, with no Q and DQ behind it."""
        return self.node("MatMul", self.input(4, 8), self.input(8, 4), bare=True)

    def conv(self, x: str, inside: int, outside: int, side: int = 3, **attributes: Any) -> str:
        """A convolution that keeps the extents, with a bias."""
        group = attributes.get("group", 1)
        bias = self.constant((self.random.standard_normal(outside) * 0.1).astype(F32))
        attributes = {"pads": [side // 2] * 4, **attributes}
        return self.node("Conv", x, self.weights(outside, inside // group, side, side), bias, **attributes)

    def dense(self, x: str, inside: int, outside: int) -> str:
        """A product with weights, and a bias."""
        product = self.node("MatMul", x, self.weights(inside, outside), bare=True)
        return self.node("Add", product, self.constant((self.random.standard_normal(outside) * 0.1).astype(F32)))

    def normalised(self, x: str, features: int) -> str:
        """LayerNormalization over the features."""
        scale = self.constant((1 + 0.1 * self.random.standard_normal(features)).astype(F32))
        shift = self.constant((0.1 * self.random.standard_normal(features)).astype(F32))
        return self.node("LayerNormalization", x, scale, shift, axis=-1)

    def erf_gelu(self, x: str) -> str:
        """Gelu as older exporters write it; the nodes inside are not quantised."""
        erf = self.node("Erf", self.node("Div", x, self.scalar(np.sqrt(2)), bare=True), bare=True)
        once = self.node("Mul", x, self.node("Add", erf, self.scalar(1), bare=True), bare=True)
        return self.node("Mul", once, self.scalar(0.5))

    def silu(self, x: str) -> str:
        """x * sigmoid(x), of which the part inside is not quantised."""
        return self.node("Mul", x, self.node("Sigmoid", x, bare=True))

    def relu6(self, x: str) -> str:
        """Limited to 0 and 6."""
        return self.node("Clip", x, self.scalar(0), self.scalar(6))

    def line_conv(self, x: str, inside: int, outside: int, side: int, **attributes: Any) -> str:
        """A convolution along one axis, with a bias; it keeps the extent where `pads` and strides are not given."""
        attributes = {"pads": [side // 2] * 2, **attributes}
        bias = self.constant((self.random.standard_normal(outside) * 0.1).astype(F32))
        return self.node(
            "Conv", x, self.weights(outside, inside // attributes.get("group", 1), side), bias, **attributes
        )

    def halves(self, x: str, axis: int) -> tuple[str, str]:
        """Both halves of an axis; they stay float where they are cut."""
        left, right = f"v{len(self.nodes)}", f"v{len(self.nodes)}b"
        self.nodes.append(helper.make_node("Split", [x], [left, right], f"Split_{left}", axis=axis, num_outputs=2))
        self.bare.update((left, right))
        return left, right

    def attention(
        self, x: str, tokens: int, features: int, heads: int, *, of: str = "", places: int = 0, causal: bool = False
    ) -> str:
        """Attention of x to itself, or to `places` rows `of` another, scaled behind the first product; `causal` hides
        what comes later.
        """
        wide, parts, rows = features // heads, [], places or tokens
        for source, count, order in (
            (x, tokens, (0, 2, 1, 3)), (of or x, rows, (0, 2, 3, 1)), (of or x, rows, (0, 2, 1, 3))
        ):  # fmt: skip
            split = self.node("Reshape", self.dense(source, features, features), self.shape(1, count, heads, wide))
            parts.append(self.node("Transpose", split, perm=order))
        scores = self.node("Mul", self.node("MatMul", parts[0], parts[1]), self.scalar(wide**-0.5))
        if causal:
            hidden = self.constant(np.triu(np.ones((tokens, tokens), bool), 1)[None, None])
            scores = self.node("Where", hidden, self.scalar(-1e4), scores, bare=True)
        mixed = self.node("MatMul", self.node("Softmax", scores, axis=-1), parts[2])
        joined = self.node("Reshape", self.node("Transpose", mixed, perm=(0, 2, 1, 3)), self.shape(1, tokens, features))
        return self.dense(joined, features, features)

    def shape(self, *extents: int) -> str:
        """A shape, as Reshape takes it."""
        return self.constant(np.asarray(extents, I64))

    # --- the end

    def floats(self, *results: str) -> bytes:
        """The model as it was written down."""
        return _model(self.nodes, self._ends(), [_end(name, None) for name in results], self.constants)

    def _ends(self) -> list[Any]:
        return [_end(name, array.shape) for name, array in self.inputs.items()]

    def quantised(self, *results: str) -> bytes:
        """The model, with Q and DQ behind every value that is not bare."""
        ranges = self._ranges()
        nodes: list[onnx.NodeProto] = []
        held, renamed = dict(self.constants), dict[str, str]()
        for name in self.inputs:
            renamed[name] = _pair(nodes, held, name, ranges[name])
        for name, array in self.constants.items():
            if array.dtype == F32 and array.ndim > 1:
                renamed[name] = _stored(nodes, held, name, array)
        for made in self.nodes:
            own = onnx.NodeProto()
            own.CopyFrom(made)
            del own.input[:]
            own.input.extend(renamed.get(value, value) for value in made.input)
            if made.op_type in ("LSTM", "GRU") and len(made.input) == 3:
                own.input.extend(("", "", *_states(nodes, held, made, self.constants[made.input[2]], ranges)))
            nodes.append(own)
            for value in made.output:
                if value in ranges and value not in self.bare:
                    renamed[value] = _pair(nodes, held, value, ranges[value])
        outputs = [
            helper.make_tensor_value_info(renamed.get(name, name), TensorProto.UNDEFINED, None) for name in results
        ]
        return _model(nodes, self._ends(), outputs, held)

    def _ranges(self) -> Mapping[str, tuple[float, float]]:
        """Of every float value on the inputs, 0 included."""
        names = [name for node in self.nodes for name in node.output]
        outputs = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in names]
        model = _model(self.nodes, self._ends(), outputs, self.constants)
        results = ReferenceEvaluator(onnx.load_from_string(model)).run(None, self.inputs)
        values = {**self.inputs, **dict(zip(names, results, strict=True))}
        return {
            name: (min(0.0, float(array.min())), max(0.0, float(array.max())))
            for name, array in values.items()
            if array.dtype == F32
        }


def _end(name: str, shape: Sequence[int] | None) -> Any:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _model(nodes: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any], held: Mapping[str, Array]) -> bytes:
    constants = [numpy_helper.from_array(array, name) for name, array in held.items()]
    graph = helper.make_graph(list(nodes), "qdq", list(inputs), list(outputs), constants)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)], ir_version=10
    )
    return bytes(model.SerializeToString())


def _states(
    nodes: list[Any], held: dict[str, Array], layer: Any, weights: Array, ranges: Mapping[str, tuple[float, float]]
) -> tuple[str, ...]:
    """The hidden state, and the cell of an LSTM, before the first step, 0, stored as they are from step to step."""
    shape, name = (weights.shape[0], 1, weights.shape[2]), layer.output[0]
    _, zero = _numbers(held, name, ranges[name])
    held |= {f"{name}_h0": np.full(shape, held[zero], np.int8), f"{name}_c0": np.zeros(shape, np.int16)}
    held |= {f"{name}_c0_scale": np.asarray(F32(2.0**-14)), f"{name}_c0_zero": np.asarray(np.int16(0))}
    found = []
    for state, numbers in (("h0", name), ("c0", f"{name}_c0"))[: 1 + (layer.op_type == "LSTM")]:
        inputs = [f"{name}_{state}", f"{numbers}_scale", f"{numbers}_zero"]
        made = helper.make_node("DequantizeLinear", inputs, [f"{name}_{state}_dq"], domain="com.microsoft")
        nodes.append(made)
        found.append(made.output[0])
    return tuple(found)


def _numbers(held: dict[str, Array], name: str, ends: tuple[float, float]) -> list[str]:
    """Scale and zero point from the smallest to the largest value."""
    low, high = ends
    scale = F32(max(high - low, 1e-6) / 255)
    held[f"{name}_scale"] = np.asarray(scale)
    held[f"{name}_zero"] = np.asarray(np.clip(np.rint(-128 - low / scale), -128, 127).astype(np.int8))
    return [f"{name}_scale", f"{name}_zero"]


def _pair(nodes: list[Any], held: dict[str, Array], name: str, ends: tuple[float, float]) -> str:
    """Q and DQ behind `name`, from the smallest to the largest value."""
    numbers = _numbers(held, name, ends)
    nodes.append(helper.make_node("QuantizeLinear", [name, *numbers], [f"{name}_q"], f"{name}_quantise"))
    nodes.append(helper.make_node("DequantizeLinear", [f"{name}_q", *numbers], [f"{name}_dq"], f"{name}_dequantise"))
    return f"{name}_dq"


def _stored(nodes: list[Any], held: dict[str, Array], name: str, array: Array) -> str:
    """A constant of 8 bits and its DQ."""
    scale = F32(max(float(np.abs(array).max()), 1e-6) / 127)
    held[name] = np.rint(array / scale).astype(np.int8)
    held[f"{name}_scale"], held[f"{name}_zero"] = np.asarray(scale), np.asarray(np.int8(0))
    numbers = [f"{name}_scale", f"{name}_zero"]
    nodes.append(helper.make_node("DequantizeLinear", [name, *numbers], [f"{name}_dq"], f"{name}_dequantise"))
    return f"{name}_dq"
