"""Knows what passes do with a frozen graph: look up who writes and reads a value, collect replacements, new values and
renames, then build the next graph. Does not know why anything is changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tilewright.ir.graphs.graph import Attribute, Graph, Node, Tensor
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]


def fresh(hint: str, *taken: Collection[str]) -> str:
    """`hint`, or `hint` with the smallest suffix `_2`, `_3`, ... that makes it different from everything taken."""
    return _fresh_after({}, hint, *taken)


def _fresh_after(suffixes: dict[str, int], hint: str, *taken: Collection[str]) -> str:
    """What `fresh` returns, without trying again the suffixes that a draft has given before, of which none is freed."""
    candidate, count = hint, suffixes.get(hint, 1)
    if count > 1:
        candidate = f"{hint}_{count}"
    while any(candidate in names for names in taken):
        count += 1
        candidate = f"{hint}_{count}"
    suffixes[hint] = count
    return candidate


def origins(*nodes: Node) -> tuple[str, ...]:
    """The ONNX nodes that `nodes` stand for, each once, in order."""
    return tuple(dict.fromkeys(name for node in nodes for name in (node.origin or (node.name,))))


def with_attributes(node: Node, changes: Mapping[str, Attribute]) -> Node:
    """`node` with some attributes added or changed."""
    return replace(node, attributes={**node.attributes, **changes})


def without_dead(graph: Graph) -> Graph:
    """The graph without nodes that no graph output depends on; the same object when there are none."""
    needed = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(name for name in node.inputs if name)
    unused = len(graph.tensors) - len(needed.union(graph.inputs, *(node.outputs for node in kept)))
    if len(kept) == len(graph.nodes) and not unused:
        return graph
    return graph.with_nodes(tuple(reversed(kept)))


@dataclass(slots=True, kw_only=True)
class Draft:
    """The edits of one pass, collected beside a graph that stays as it is. Local to the pass that makes it."""

    graph: Graph
    tensors: dict[str, Tensor] = field(default_factory=dict)  # new or changed values
    constants: dict[str, Array] = field(default_factory=dict)
    replacements: dict[str, tuple[Node, ...]] = field(default_factory=dict)  # by name of the node replaced
    renames: dict[str, str] = field(default_factory=dict)  # value -> the value to use instead
    _inputs: frozenset[str] = field(init=False)
    _outputs: frozenset[str] = field(init=False)
    _value_suffixes: dict[str, int] = field(default_factory=dict, init=False)  # hint -> the last suffix in use
    _node_suffixes: dict[str, int] = field(default_factory=dict, init=False)
    _node_names: set[str] = field(default_factory=set, init=False)  # in use; filled by the first question

    def __post_init__(self) -> None:
        self._inputs, self._outputs = frozenset(self.graph.inputs), frozenset(self.graph.outputs)

    def value(self, dtype: DType, shape: tuple[int, ...], hint: str) -> str:
        """The name of a new intermediate value."""
        name = _fresh_after(self._value_suffixes, hint, self.graph.tensors, self.tensors)
        self.tensors[name] = Tensor(name=name, dtype=dtype, shape=shape)
        return name

    def constant(self, array: Array, hint: str) -> str:
        """The name of a new constant that holds a copy of `array`."""
        name = self.value(DType.from_numpy(array.dtype), tuple(array.shape), hint)
        self.constants[name] = array.copy()
        return name

    def node_name(self, hint: str) -> str:
        """A node name that is not in use, and that no later question gets."""
        if not self._node_names:
            self._node_names.update(node.name for node in self.graph.nodes)
            self._node_names.update(node.name for nodes in self.replacements.values() for node in nodes)
        name = _fresh_after(self._node_suffixes, hint, self._node_names)
        self._node_names.add(name)
        return name

    def replace(self, node: Node, *nodes: Node) -> None:
        """Put `nodes` where `node` is. None of them removes it."""
        self.replacements[node.name] = nodes

    def bypass(self, node: Node, other: str) -> bool:
        """Remove `node`, whose only output equals `other`: its readers read `other`.

        A graph output keeps its name: the writer of `other` writes under that name instead. False, and nothing
        is changed, where that is impossible because the name of `other` is fixed too.
        """
        value, other = self._resolved(node.outputs[0]), self._resolved(other)
        if value not in self._outputs:
            self.renames[value] = other
        elif other in self._outputs or other in self.constants or self._comes_from_outside(other):
            return False
        else:
            self.renames[other] = value
        self.replacements[node.name] = ()
        return True

    def rename_way(self, way: Sequence[Sequence[str]]) -> None:
        """Values one after the other, those in a group equal once nodes between them are gone: the last value of the
        last group of several keeps its name, and groups before it, which hold other numbers by now, get new names.
        """
        last = max((number for number, values in enumerate(way) if len(values) > 1), default=-1)
        for number, values in enumerate(way[: last + 1]):
            tensor = self.graph.tensors[values[0]]
            kept = values[-1] if number == last else self.value(tensor.dtype, tensor.shape, f"{values[0]}_folded")
            self.renames.update((value, kept) for value in values if value != kept)

    def finish(self) -> Graph:
        """The next graph, dead nodes removed; the same object when there were no edits."""
        if not (self.replacements or self.renames):
            return self.graph
        nodes = [new for node in self.graph.nodes for new in self.replacements.get(node.name, (node,))]
        graph = self.graph.with_nodes(
            tuple(self._renamed(node) for node in nodes),
            tensors={**self.graph.tensors, **self.tensors},
            constants={**self.graph.constants, **self.constants},
        )
        return without_dead(graph)

    def _comes_from_outside(self, value: str) -> bool:
        return value in self.graph.constants or value in self._inputs

    def _resolved(self, value: str) -> str:
        """The value that `value` is by now; every name on the way remembers it."""
        passed: list[str] = []
        while value in self.renames:
            passed.append(value)
            value = self.renames[value]
        self.renames.update(dict.fromkeys(passed, value))
        return value

    def _renamed(self, node: Node) -> Node:
        inputs = tuple(self._resolved(name) for name in node.inputs)
        outputs = tuple(self._resolved(name) for name in node.outputs)
        if (inputs, outputs) == (node.inputs, node.outputs):
            return node
        return replace(node, inputs=inputs, outputs=outputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """A graph with its writers and readers, worked out once."""

    graph: Graph
    producer: Mapping[str, Node]
    consumers: Mapping[str, list[Node]]
    position: Mapping[str, int]  # of each node, by name, in the order of the graph
    outputs: frozenset[str]  # of the graph

    @classmethod
    def of(cls, graph: Graph) -> GraphView:
        """The view of `graph`."""
        position = {node.name: index for index, node in enumerate(graph.nodes)}
        return cls(
            graph=graph,
            producer=graph.producer(),
            consumers=graph.consumers(),
            position=position,
            outputs=frozenset(graph.outputs),
        )

    def read_once(self, value: str) -> bool:
        """Whether exactly one node reads `value`, and nobody outside does."""
        return len(self.consumers[value]) == 1 and value not in self.outputs

    def compile_time(self, value: str) -> bool:
        """Whether `value` is a constant, or the DequantizeLinear of one."""
        if value in self.graph.constants:
            return True
        node = self.producer.get(value)
        return node is not None and node.op == "DequantizeLinear" and node.inputs[0] in self.graph.constants
