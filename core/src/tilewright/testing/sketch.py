"""Knows how to write a graph down in a few lines of a test, shapes and types inferred by the operators.
Does not know ONNX files, nor what the graph is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


@dataclass(slots=True, kw_only=True)
class Sketch:
    """A graph being written down. Every method returns the name of the value it adds."""

    operators: Mapping[str, Operator]
    inputs: list[str] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)

    def input(self, name: str, dtype: DType, shape: Sequence[int]) -> str:
        """A graph input."""
        self.tensors[name] = Tensor(name=name, dtype=dtype, shape=tuple(shape))
        self.inputs.append(name)
        return name

    def constant(self, array: Array) -> str:
        """A constant."""
        name = f"c{len(self.constants)}"
        self.tensors[name] = Tensor(name=name, dtype=DType.from_numpy(array.dtype), shape=tuple(array.shape))
        self.constants[name] = array
        return name

    def node(
        self, op: str, inputs: Sequence[str], attributes: Mapping[str, Attribute] | None = None, name: str = ""
    ) -> str:
        """A node of one output, which is named after it."""
        name = name or f"{op}_{len(self.nodes)}"
        output = f"{name}:0"
        node = Node(
            name=name, op=op, inputs=tuple(inputs), outputs=(output,), attributes=attributes or {}, origin=(name,)
        )
        self.tensors[output] = Tensor(name=output, dtype=DType.F32, shape=())
        (self.tensors[output],) = self.operators[op].infer(self.graph(()).site(node))
        self.nodes.append(node)
        return output

    def quantize(self, value: str, scale: float, zero_point: int, dtype: DType = DType.I8, name: str = "") -> str:
        """QuantizeLinear with one scale."""
        import numpy as np

        numbers = self.constant(np.array(scale, np.float32)), self.constant(np.array(zero_point, dtype.numpy))
        return self.node("QuantizeLinear", (value, *numbers), {"to": dtype.value}, name)

    def dequantize(self, value: str, scale: npt.ArrayLike, zero_point: int | Sequence[int] = 0, axis: int = 0) -> str:
        """DequantizeLinear; `axis` counts where there are several scales."""
        import numpy as np

        scales = np.array(scale, np.float32)
        zeros = np.broadcast_to(np.array(zero_point), scales.shape).astype(self.tensors[value].dtype.numpy)
        attributes: dict[str, Attribute] = {"axis": axis} if scales.ndim else {}
        return self.node("DequantizeLinear", (value, self.constant(scales), self.constant(zeros)), attributes)

    def graph(self, outputs: Sequence[str]) -> Graph:
        """What was written so far, not verified."""
        return Graph(
            name="sketch",
            inputs=tuple(self.inputs),
            outputs=tuple(outputs),
            nodes=tuple(self.nodes),
            tensors=self.tensors,
            constants={name: array.copy() for name, array in self.constants.items()},
        )

    def finish(self, *outputs: str) -> Graph:
        """The verified graph; outputs keep the names they have."""
        return self.graph(outputs).verify()
