"""Knows how to make small random graphs full of views, shared values and in-place chances, and a machine for them.
Does not know any stage.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from tilewright.ir.graphs.graph import Attribute, Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.machines.kernel import Kernel
from tilewright.ir.machines.platform import Memory, MemoryHierarchy, Platform
from tilewright.ir.tensors.dtypes import DType

_FAMILIES = (
    "elementwise.binary",
    "elementwise.clip",
    "movement.concat",
    "movement.reshape",
    "movement.slice",
    "movement.transpose",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallWorld:
    """The operators that move elements and two that compute, their portable kernels, and one machine."""

    platforms: Mapping[str, Platform]
    operators: Mapping[str, Operator]
    kernels: Mapping[str, Kernel]
    memory_hierarchies: Mapping[str, MemoryHierarchy] = field(default_factory=dict)

    @property
    def platform(self) -> Platform:
        """The machine: one memory that is written."""
        return self.platforms["small"]


def small_world(ram_bytes: int | None = None) -> SmallWorld:
    """Everything a random graph needs; `ram_bytes` is a hard limit."""
    families = [import_module(f"tilewright.operators.{name}") for name in _FAMILIES]
    return SmallWorld(
        platforms={"small": Platform(name="small", memories=(Memory(name="sram", size_bytes=ram_bytes),))},
        operators={operator.name: operator for family in families for operator in family.OPERATORS},
        kernels={kernel.name: kernel for family in families for kernel in family.KERNELS},
    )


def random_graph(chance: random.Random, operators: Mapping[str, Operator], *, most_nodes: int = 10) -> Graph:
    """A float graph of up to `most_nodes` nodes over one or two inputs; what nobody reads is an output."""
    draft = _Draft(chance, operators)
    for _ in range(chance.randint(1, 2)):
        draft.add_input(tuple(chance.randint(1, 4) for _ in range(chance.randint(1, 3))))
    for _ in range(chance.randint(1, most_nodes)):
        draft.add_node()
    return draft.graph()


class _Draft:
    def __init__(self, chance: random.Random, operators: Mapping[str, Operator]) -> None:
        self.chance, self.operators = chance, operators
        self.tensors: dict[str, Tensor] = {}
        self.inputs: list[str] = []
        self.nodes: list[Node] = []

    def add_input(self, shape: tuple[int, ...]) -> None:
        name = f"in{len(self.inputs)}"
        self.inputs.append(name)
        self.tensors[name] = Tensor(name=name, dtype=DType.F32, shape=shape)

    def add_node(self) -> None:
        first = self.tensors[self.chance.choice(list(self.tensors))]
        match self.chance.choice(("Clip", "Clip", "Add", "Reshape", "Transpose", "Slice", "Concat")):
            case "Clip":
                self._emit("Clip", (first,), {"min": 0.0, "max": 6.0})
            case "Add":
                self._emit("Add", (first, self._like(first)), {})
            case "Reshape":
                self._emit("Reshape", (first,), {"shape": self._reshaped(first)})
            case "Transpose":
                axes = list(range(len(first.shape)))
                self.chance.shuffle(axes)
                self._emit("Transpose", (first,), {"perm": tuple(axes)})
            case "Slice":
                starts = tuple(self.chance.randrange(extent) for extent in first.shape)
                shape = tuple(
                    self.chance.randint(1, extent - start) for extent, start in zip(first.shape, starts, strict=True)
                )
                self._emit("Slice", (first,), {"starts": starts, "steps": (1,) * len(starts), "shape": shape})
            case "Concat":
                axis = self.chance.randrange(len(first.shape))
                self._emit("Concat", (first, self._like(first)), {"axis": axis})

    def _like(self, tensor: Tensor) -> Tensor:
        return self.chance.choice([other for other in self.tensors.values() if other.shape == tensor.shape])

    def _reshaped(self, tensor: Tensor) -> tuple[int, ...]:
        outer = self.chance.choice([d for d in range(1, tensor.elements + 1) if tensor.elements % d == 0])
        return (outer, tensor.elements // outer)

    def _emit(self, op: str, inputs: tuple[Tensor, ...], attributes: Mapping[str, Attribute]) -> None:
        name = f"{op.lower()}{len(self.nodes)}"
        node = Node(
            name=name, op=op, inputs=tuple(t.name for t in inputs), outputs=(f"{name}:0",), attributes=attributes
        )
        draft = Tensor(name=f"{name}:0", dtype=DType.F32, shape=())
        (output,) = self.operators[op].infer(Site(node=node, inputs=inputs, outputs=(draft,), constants={}))
        self.nodes.append(node)
        self.tensors[output.name] = output

    def graph(self) -> Graph:
        read = {name for node in self.nodes for name in node.inputs}
        outputs = tuple(name for node in self.nodes for name in node.outputs if name not in read)
        return Graph(
            name="random",
            inputs=tuple(self.inputs),
            outputs=outputs,
            nodes=tuple(self.nodes),
            tensors=self.tensors,
            constants={},
        )
