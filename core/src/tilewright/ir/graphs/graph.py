"""Knows a network as tilewright holds it: typed tensors, constants and nodes in order, all frozen.
Does not know ONNX files, targets or memory.

Normal form (what every later stage may rely on):
  * every shape is a tuple of non-negative ints; nothing is symbolic;
  * nodes are in topological order and every tensor is written once;
  * everything that ONNX passes as a constant shape, axes, pads or steps input is an attribute;
  * Identity, Dropout, Constant are gone; Flatten, Squeeze, Unsqueeze are Reshape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tilewright.ir.tensors.dtypes import DType
from tilewright.ir.tensors.requant import Requant
from tilewright.ir.tensors.stored_form import StoredValue

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

Attribute = int | float | str | Requant | StoredValue | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]
WEIGHT_BITS = "weight_bits"  # the attribute of weights that the model file has in fewer bits than a byte


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantization:
    """`real = scale * (stored - zero_point)`; one entry for all, or one per index of `axis`."""

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """The type of a value. `quantization` documents an integer tensor; operators carry their own numbers."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    quantization: Quantization | None = None

    @property
    def elements(self) -> int:
        """How many elements; 1 for a scalar."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def size_bytes(self) -> int:
        """Bytes of all elements, densely stored."""
        return self.elements * self.dtype.size_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One application of an operator. An absent optional input is the empty string, as in ONNX."""

    name: str  # unique in the graph
    op: str  # ONNX op_type, or an operator of tilewright's own such as QConv
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    origin: tuple[str, ...] = ()  # names of the ONNX nodes it stands for
    links: tuple[Link, ...] = ()  # of a chain: the nodes that it computes as one, first to last

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(sorted(self.attributes.items()))))

    def integer(self, name: str, default: int = 0) -> int:
        """An attribute that is an int."""
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise TypeError(f"{self.name}: attribute {name} is {value!r}, not an int")
        return value

    def number(self, name: str, default: float = 0.0) -> float:
        """An attribute that is a float (or an int)."""
        value = self.attributes.get(name, default)
        if not isinstance(value, (int, float)):
            raise TypeError(f"{self.name}: attribute {name} is {value!r}, not a number")
        return float(value)

    def integers(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """An attribute that is a tuple of ints."""
        value = self.attributes.get(name, default)
        if not isinstance(value, tuple):
            raise TypeError(f"{self.name}: attribute {name} is {value!r}, not a list")
        return tuple(map(int, value))

    def requant(self) -> Requant:
        """The attribute `requant` of an integer operator."""
        value = self.attributes["requant"]
        if not isinstance(value, Requant):
            raise TypeError(f"{self.name}: attribute requant is {value!r}")
        return value

    @property
    def weight_bits(self) -> int:
        """How many bits the model file gives each weight: its attribute `WEIGHT_BITS`, else 8."""
        return self.integer(WEIGHT_BITS, 8)

    @property
    def rounding(self) -> str:
        """How an integer operator rounds, by name: that of its `requant`, or its attribute `rounding`; else `onnx`."""
        named, requant = self.attributes.get("rounding"), self.attributes.get("requant")
        if isinstance(named, str):
            return named
        return requant.rounding.name if isinstance(requant, Requant) else "onnx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A node of a chain, and what it writes: the next one reads it, and no memory holds it."""

    node: Node
    output: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A node together with the tensors it touches: what operators and kernels are asked about."""

    node: Node
    inputs: tuple[Tensor | None, ...]  # None where an optional input is absent
    outputs: tuple[Tensor, ...]
    constants: Mapping[str, Array] = field(compare=False)  # by tensor name; only this node's

    @property
    def output(self) -> Tensor:
        """The only, or first, output."""
        return self.outputs[0]

    def input(self, index: int) -> Tensor:
        """An input that must be there."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        if tensor is None:
            raise IndexError(f"{self.node.name}: input {index} is absent")
        return tensor

    def has_input(self, index: int) -> bool:
        """Whether an optional input is there."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def constant(self, index: int) -> Array | None:
        """The elements of an input that is known at compile time, or None."""
        tensor = self.inputs[index] if index < len(self.inputs) else None
        return None if tensor is None else self.constants.get(tensor.name)

    def members(self) -> tuple[Site, ...]:
        """The nodes of a chain with their tensors, first to last; of any other node none."""
        known = {tensor.name: tensor for tensor in self.inputs if tensor is not None}
        sites = []
        for link in self.node.links:
            names = link.node.inputs
            sites.append(
                Site(
                    node=link.node,
                    inputs=tuple(known[name] if name else None for name in names),
                    outputs=(link.output,) if link is not self.node.links[-1] else self.outputs,
                    constants={name: self.constants[name] for name in names if name in self.constants},
                )
            )
            known[link.output.name] = link.output
        return tuple(sites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A whole network. Change it with `replace` and the helpers of `rewrite`, never in place."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    tensors: Mapping[str, Tensor]  # every value: inputs, constants, intermediate values, outputs
    constants: Mapping[str, Array] = field(compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tensors", MappingProxyType(dict(self.tensors)))
        object.__setattr__(self, "constants", MappingProxyType(dict(self.constants)))
        for array in self.constants.values():
            array.flags.writeable = False

    def site(self, node: Node) -> Site:
        """`node` with its tensors."""
        return Site(
            node=node,
            inputs=tuple(self.tensors[name] if name else None for name in node.inputs),
            outputs=tuple(self.tensors[name] for name in node.outputs),
            constants={name: self.constants[name] for name in node.inputs if name in self.constants},
        )

    def sites(self) -> Iterator[Site]:
        """Every node with its tensors, in order."""
        return (self.site(node) for node in self.nodes)

    def producer(self) -> dict[str, Node]:
        """Which node writes each value."""
        return {name: node for node in self.nodes for name in node.outputs}

    def consumers(self) -> dict[str, list[Node]]:
        """Which nodes read each value, in order, each node once; every value has an entry."""
        readers: dict[str, list[Node]] = {name: [] for name in self.tensors}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    readers[name].append(node)
        return readers

    def with_nodes(self, nodes: tuple[Node, ...], **changes: Any) -> Graph:
        """The same graph with other nodes (and other fields), unused tensors and constants dropped."""
        graph = replace(self, nodes=nodes, **changes)
        used = {*graph.inputs, *graph.outputs}
        for node in graph.nodes:
            used.update(name for name in (*node.inputs, *node.outputs) if name)
        return replace(
            graph,
            tensors={name: tensor for name, tensor in graph.tensors.items() if name in used},
            constants={name: array for name, array in graph.constants.items() if name in used},
        )

    def verify(self) -> Graph:
        """Return self, or raise ValueError naming the first broken promise of the normal form."""
        known = {*self.inputs, *self.constants}
        for name, array in self.constants.items():
            tensor = self.tensors[name]
            if tuple(array.shape) != tensor.shape or DType.from_numpy(array.dtype) is not tensor.dtype:
                raise ValueError(f"constant {name!r} is {array.dtype}{array.shape}, declared {tensor}")
        names: set[str] = set()
        for node in self.nodes:
            if node.name in names:
                raise ValueError(f"two nodes are named {node.name!r}")
            names.add(node.name)
            missing = [name for name in node.inputs if name and name not in known]
            if missing:
                raise ValueError(f"node {node.name!r} reads {missing[0]!r} before it is written")
            for name in node.outputs:
                if name in known:
                    raise ValueError(f"node {node.name!r} writes {name!r}, which has a value already")
                if name not in self.tensors:
                    raise ValueError(f"node {node.name!r} writes {name!r}, which has no type")
                known.add(name)
        lost = [name for name in self.outputs if name not in known]
        if lost:
            raise ValueError(f"output {lost[0]!r} is never written")
        return self
