"""Knows an ONNX file as plain frozen values: graphs, nodes, tensors, functions, still under the file's own names.
Does not know protobuf (`reader`), nor what any of it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

FunctionKey = tuple[str, str, str]  # domain, name, overload


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTensor:
    """A tensor with its elements in one of three forms: `raw` bytes, typed `values`, or `external`."""

    name: str
    data_type: int
    dims: tuple[int, ...]
    raw: bytes | None = None
    values: Array | None = None  # as the typed field stores them; None for strings
    external: tuple[tuple[str, str], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileValue:
    """A declared value. A dimension is a number, a symbol, or None where nothing is said; `dims` None: no shape."""

    name: str
    kind: str  # "tensor_type", "sequence_type", ... or "" where no type is given
    data_type: int = 0
    dims: tuple[int | str | None, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAttribute:
    """An attribute. `kind` is ONNX's type name; `reference` names an attribute of the function around the node."""

    name: str
    kind: str
    value: object = None  # int, float, bytes, FileTensor, FileGraph or a tuple of one of them
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNode:
    """A node. `version` is its operator set's, 0 where the file does not import that set."""

    name: str
    op_type: str
    domain: str
    overload: str
    version: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[FileAttribute, ...]

    def graphs(self) -> Iterator[FileGraph]:
        """The bodies of a control-flow node."""
        for attribute in self.attributes:
            candidates = attribute.value if isinstance(attribute.value, tuple) else (attribute.value,)
            yield from (item for item in candidates if isinstance(item, FileGraph))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGraph:
    """A graph or the body of a control-flow node."""

    name: str
    nodes: tuple[FileNode, ...]
    inputs: tuple[FileValue, ...]
    outputs: tuple[FileValue, ...]
    initializers: tuple[FileTensor, ...]
    values: tuple[FileValue, ...]  # value_info


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFunction:
    """A local function."""

    name: str
    domain: str
    overload: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[FileNode, ...]
    attributes: tuple[str, ...]  # without default
    defaults: tuple[FileAttribute, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileModel:
    """A whole file."""

    graph: FileGraph
    functions: Mapping[FunctionKey, FileFunction]
    opsets: Mapping[str, int]  # domain -> version
    ir_version: int  # of the file's form


def free_names(graph: FileGraph) -> frozenset[str]:
    """Names that a body reads from the graph around it."""
    own = {value.name for value in graph.inputs} | {tensor.name for tensor in graph.initializers}
    own.update(name for node in graph.nodes for name in node.outputs)
    read = {value.name for value in graph.outputs}
    for node in graph.nodes:
        read.update(reads(node))
    return frozenset(read - own)


def reads(node: FileNode) -> tuple[str, ...]:
    """Every value that a node needs: its inputs and what its bodies read, each once, in order."""
    names = dict.fromkeys(name for name in node.inputs if name)
    for body in node.graphs():
        names.update(dict.fromkeys(sorted(free_names(body))))
    return tuple(names)
