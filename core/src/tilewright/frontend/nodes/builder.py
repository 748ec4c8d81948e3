"""Knows the graph while it is being built: values, constants, nodes, each checked and typed as it is added.
Does not know ONNX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from tilewright.frontend.reading.names import UniqueNames, show
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.frontend.reading.values import checked_size
from tilewright.ir.graphs.evaluation import results
from tilewright.ir.graphs.graph import Graph, Node, Site, Tensor
from tilewright.ir.graphs.operator import Operator
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from tilewright.ir.graphs.model_formats import Limits

    Array = npt.NDArray[np.generic]

_WRONG_OPERANDS = (ValueError, IndexError, ArithmeticError)  # what a shape rule does on operands that make no sense


class GraphBuilder:
    """A graph under construction. Mutable, and private to one import."""

    def __init__(
        self, operators: Mapping[str, Operator], limits: Limits, names: UniqueNames, node_names: UniqueNames
    ) -> None:
        self.names = names
        self.node_names = node_names
        self.tensors: dict[str, Tensor] = {}
        self.constants: dict[str, Array] = {}
        self.foreign: dict[str, str] = {}  # constants of types that tilewright does not hold -> the type's name
        self.nodes: list[Node] = []
        self._operators = operators
        self._limits = limits
        self._static: dict[str, Node] = {}  # values that follow from constants alone -> their writer
        self._evaluated: dict[str, Array] = {}
        self._evaluation_bytes = limits.fold_total_bytes  # left

    def tensor(self, name: str) -> Tensor:
        """Type of a value. RefusedNode for a type that tilewright does not hold."""
        if not name:
            raise InvalidNode("an input that must be there is absent")
        if name in self.foreign:
            raise RefusedNode(f"its input {show(name)} is {self.foreign[name]}, which tilewright does not hold")
        return self.tensors[name]

    def described(self, name: str) -> tuple[str, tuple[int, ...]] | None:
        """Numpy's name of a value's type, and its shape; None where tilewright does not hold it."""
        tensor = self.tensors.get(name)
        return (tensor.dtype.numpy.name, tensor.shape) if tensor else None

    def has(self, name: str) -> bool:
        """Whether a value is there."""
        return name in self.tensors or name in self.constants or name in self.foreign

    @property
    def size(self) -> int:
        """How many nodes and constants there are: it grows with each."""
        return len(self.nodes) + len(self.constants)

    def add_input(self, tensor: Tensor) -> None:
        """A graph input."""
        self.tensors[tensor.name] = tensor

    def add_constant(self, name: str, array: Array) -> None:
        """A value known at compile time. Types without a `DType` may only be folded away."""
        self.constants[name] = array
        try:
            dtype = DType.from_numpy(array.dtype)
        except ValueError:
            self.foreign[name] = str(array.dtype)
            return
        self.tensors[name] = Tensor(name=name, dtype=dtype, shape=tuple(array.shape))

    def add_node(self, node: Node) -> None:
        """A node; its outputs get the types that its operator infers."""
        operator = self._operators.get(node.op)
        if operator is None:
            raise RefusedNode(f"it needs the operator {node.op}, which no installed package has")
        inputs = tuple(self.tensor(name) if name else None for name in node.inputs)
        blank = tuple(Tensor(name=name, dtype=DType.F32, shape=()) for name in node.outputs)
        constants = {name: self.constants[name] for name in node.inputs if name in self.constants}
        site = Site(node=node, inputs=inputs, outputs=blank, constants=constants)
        try:
            inferred = operator.infer(site)
        except _WRONG_OPERANDS as error:
            raise InvalidNode(f"{node.op}: {error}") from error
        if len(inferred) < len(node.outputs):
            raise RefusedNode(f"it has {len(node.outputs)} outputs, only {len(inferred)} are supported")
        for name, tensor in zip(node.outputs, inferred, strict=False):
            if self.has(name):
                raise ValueError(f"import of {node.name!r} writes {name!r} twice")
            where = f"node {show(node.name)}, output"
            checked_size(tensor.shape, tensor.dtype.size_bytes, self._limits.tensor_bytes, where)
            self.tensors[name] = replace(tensor, name=name)
        self.nodes.append(node)
        if all(name in self.constants or name in self._static for name in node.inputs if name):
            self._static.update(dict.fromkeys(node.outputs, node))

    def known(self, name: str) -> Array | None:
        """The elements of a value that is a constant or follows from constants, else None."""
        if name in self.constants:
            return self.constants[name]
        if name not in self._static:
            return None
        pending = [name]
        while pending:
            if pending[-1] in self._evaluated:  # an earlier request, or needed twice
                pending.pop()
                continue
            node = self._static[pending[-1]]
            missing = [value for value in node.inputs if value in self._static and value not in self._evaluated]
            pending.extend(missing)
            if not missing and not self._evaluate(node):
                return None
        return self._evaluated[name]

    def _evaluate(self, node: Node) -> bool:
        import numpy as np

        outputs = tuple(self.tensors[name] for name in node.outputs)
        size = sum(tensor.size_bytes for tensor in outputs)
        if size > min(self._limits.fold_bytes, self._evaluation_bytes):
            return False
        self._evaluation_bytes -= size
        inputs = [self._evaluated.get(name, self.constants.get(name)) if name else None for name in node.inputs]
        site = Site(
            node=node,
            inputs=tuple(self.tensors[name] if name else None for name in node.inputs),
            outputs=outputs,
            constants={name: self.constants[name] for name in node.inputs if name in self.constants},
        )
        arrays = map(np.asarray, results(self._operators[node.op], site, inputs))
        self._evaluated.update(zip(node.outputs, arrays, strict=False))
        return True

    def finish(self, name: str, inputs: Sequence[str], outputs: Mapping[str, str]) -> Graph:
        """The verified graph. `outputs` maps the name of each output to the value it is; their names are kept."""
        outputs = self._without_constants(outputs)
        names: dict[str, str] = {}  # of values that become outputs
        written = {value: node for node in self.nodes for value in node.outputs}
        for output, source in outputs.items():
            if source == output:
                continue
            if source in written and source not in outputs and source not in names:
                names[source] = output
            else:
                self._copy(source, output)
        nodes = tuple(renamed(node, names) for node in self.nodes)
        tensors = {names.get(key, key): tensor for key, tensor in self.tensors.items()}
        graph = Graph(
            name=name,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            nodes=nodes,
            tensors={key: replace(tensor, name=key) if key in outputs else tensor for key, tensor in tensors.items()},
            constants=MappingProxyType({key: array for key, array in self.constants.items() if key in tensors}),
        )
        return graph.with_nodes(graph.nodes).verify()

    def _without_constants(self, outputs: Mapping[str, str]) -> dict[str, str]:
        """The same outputs; a constant that has an output's name gets one of its own."""
        moved = {name: self.names.take(f"{name}/value") for name in outputs if name in self.constants}
        for output, name in moved.items():
            self.add_constant(name, self.constants.pop(output))
            del self.tensors[output]
        self.nodes = [renamed(node, moved) for node in self.nodes]
        return {output: moved.get(source, source) for output, source in outputs.items()}

    def _copy(self, source: str, output: str) -> None:
        """A node that makes `output` a value of its own, where it is an input or a constant."""
        shape = self.tensor(source).shape
        node = Node(
            name=self.node_names.take(f"{output}/copy"),
            op="Reshape",
            inputs=(source,),
            outputs=(output,),
            attributes={"shape": shape},
        )
        self.add_node(node)


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """The node, its values under other names where `names` has one."""
    if names.keys().isdisjoint((*node.inputs, *node.outputs)):
        return node
    return replace(
        node,
        inputs=tuple(names.get(name, name) for name in node.inputs),
        outputs=tuple(names.get(name, name) for name in node.outputs),
    )
