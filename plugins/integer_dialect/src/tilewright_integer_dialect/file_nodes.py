"""Knows nodes of the file as the dialect's tools write them: numbers as ints, floats or tensors of one element, in any
domain. Does not know what a node means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class OddNode(Exception):
    """A node that cannot be taken, and why: collected, and shown together with all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNode:
    """One node, its domain left out. `raw` is the file's."""

    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    raw: Any

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"node {self.name!r} ({self.op})"

    def words(self, name: str) -> tuple[int, ...] | None:
        """An attribute as whole numbers, whatever its encoding; None where it is absent."""
        result = next((each for each in self.raw.attribute if each.name == name), None)
        return None if result is None else _words(self, result)

    def has(self, name: str) -> bool:
        """Whether there is an attribute of that name."""
        return any(each.name == name for each in self.raw.attribute)

    def integer(self, *names: str, default: int | None = None) -> int:
        """The first of these attributes that is there, as one whole number; the default where none is, or OddNode."""
        for name in names:
            words = self.words(name)
            if words is not None and len(words) == 1:
                return words[0]
            if words is not None:
                raise OddNode(f"attribute {name} has {len(words)} numbers where one is expected")
        if default is None:
            raise OddNode(f"attribute {' or '.join(names)} is missing")
        return default

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        result = next((each for each in self.raw.attribute if each.name == name), None)
        return default if result is None else bytes(result.s).decode("utf-8", "replace")


def _words(node: FileNode, attribute: Any) -> tuple[int, ...]:
    from onnx import AttributeProto, numpy_helper

    kinds = {
        AttributeProto.INT: lambda: [attribute.i],
        AttributeProto.INTS: lambda: list(attribute.ints),
        AttributeProto.FLOAT: lambda: [attribute.f],
        AttributeProto.FLOATS: lambda: list(attribute.floats),
        AttributeProto.TENSOR: lambda: numpy_helper.to_array(attribute.t).reshape(-1).tolist(),
    }
    if attribute.type not in kinds:
        raise OddNode(f"attribute {attribute.name} is no number")
    numbers = kinds[attribute.type]()
    if any(not math.isfinite(number) or number != int(number) for number in numbers):
        raise OddNode(f"attribute {attribute.name} is {numbers}, and no whole number")
    return tuple(int(number) for number in numbers)


def file_nodes(raw_nodes: Iterable[Any]) -> tuple[FileNode, ...]:
    """The nodes of a graph, each with a name."""
    return tuple(
        FileNode(
            name=raw.name or f"{raw.op_type}_{index}",
            op=raw.op_type,
            inputs=tuple(raw.input),
            outputs=tuple(raw.output),
            raw=raw,
        )
        for index, raw in enumerate(raw_nodes)
    )


def in_order(nodes: Iterable[FileNode]) -> tuple[FileNode, ...]:
    """Every node behind those that write what it reads. A circle is left as it is: whoever reads it says so."""
    waiting = list(nodes)
    writers = {name: index for index, node in enumerate(waiting) for name in node.outputs}
    done: list[int] = []
    state = [0] * len(waiting)  # 0 not seen, 1 waits for others, 2 done
    for first in range(len(waiting)):
        pending = [first]
        while pending:
            index = pending[-1]
            needed = (writers[name] for name in waiting[index].inputs if name in writers)
            missing = [writer for writer in needed if state[writer] == 0]
            if state[index] < 2 and missing:
                state[index] = 1
                pending.append(missing[0])
                continue
            pending.pop()
            if state[index] < 2:
                state[index] = 2
                done.append(index)
    return tuple(waiting[index] for index in done)
