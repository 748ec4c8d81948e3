"""Knows how nodes of ONNX are written one after the other in the place of one node of a file.
Does not know what that node means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright_integer_dialect.file_nodes import FileNode


class FloatNodes:
    """The nodes and constants that replace those of a model. Mutable, and private to one translation."""

    def __init__(self, graph: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.shapes = shapes
        self._names = {name for node in graph.node for name in (*node.input, *node.output)}
        self._names.update(tensor.name for tensor in graph.initializer)

    def rank(self, name: str, default: int = 2) -> int:
        """How many axes a value has, where the file declares its shape."""
        return len(self.shapes[name]) if name in self.shapes else default

    def keep(self, node: FileNode, *, without: Sequence[str] = (), inputs: Sequence[str] | None = None) -> None:
        """The node as it is, some attributes left out."""
        from onnx import NodeProto

        copy = NodeProto()
        copy.CopyFrom(node.raw)
        kept = [attribute for attribute in node.raw.attribute if attribute.name not in without]
        del copy.attribute[:]
        copy.attribute.extend(kept)
        copy.name = node.name
        if inputs is not None:
            del copy.input[:]
            copy.input.extend(inputs)
        self.nodes.append(copy)

    def write(self, node: FileNode, op: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """One node of ONNX; without `output` it writes a new value. Returns its output."""
        from onnx import helper

        result = output or self.fresh(f"{node.outputs[0] or node.name}_{op.lower()}")
        name = node.name if output else f"{node.name}/{result}"
        self.nodes.append(helper.make_node(op, list(inputs), [result], name=name, **attributes))
        return result

    def number(self, node: FileNode, value: float) -> str:
        """A float32 constant."""
        import numpy as np

        return self.constant(node, np.float32(value))

    def constant(self, node: FileNode, array: Any) -> str:
        """Any constant."""
        import numpy as np
        from onnx import numpy_helper

        name = self.fresh(f"{node.outputs[0] or node.name}_number")
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def axes(self, node: FileNode, axes: Sequence[int]) -> str:
        """Axes as an input."""
        import numpy as np

        return self.constant(node, np.array(list(axes), np.int64))

    def fresh(self, hint: str) -> str:
        """A name that nothing has."""
        name, count = hint, 1
        while name in self._names:
            count += 1
            name = f"{hint}_{count}"
        self._names.add(name)
        return name
