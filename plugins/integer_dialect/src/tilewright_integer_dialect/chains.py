"""Knows requantisations that are written in ONNX's own operators, Cast - Mul - Add - Div - Floor - Clip, and makes one
node of each. Does not know what comes before or after them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright_integer_dialect.file_nodes import FileNode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

JOINED = "FlooredChain"  # inputs x, mul, add, div, low, high; an absent one is ""


def with_chains_joined(nodes: Iterable[FileNode], constants: Mapping[str, Array]) -> tuple[FileNode, ...]:
    """The nodes, those of a chain replaced by one of `JOINED`, named after its Clip. What others read, too, stays."""
    known = tuple(nodes)
    writers = {name: node for node in known for name in node.outputs}
    readers = Counter(name for node in known for name in node.inputs)
    replaced: dict[str, FileNode] = {}
    gone: set[str] = set()
    for clip in known:
        result = _chain(clip, writers, readers, constants)
        if result is not None:
            replaced[clip.outputs[0]], members = result
            gone.update(members)
    kept = (node for node in known if node.outputs[0] not in gone)
    return tuple(replaced.get(node.outputs[0], node) for node in kept)


def _chain(
    clip: FileNode, writers: Mapping[str, FileNode], readers: Mapping[str, int], constants: Mapping[str, Array]
) -> tuple[FileNode, tuple[str, ...]] | None:
    """The node that stands for the chain that ends in `clip`, and the outputs of those that it replaces."""
    if clip.op != "Clip":
        return None
    value, members = clip.inputs[0], list[str]()
    factors = {"Mul": "", "Add": "", "Div": ""}
    for op in ("Floor", "Div", "Add", "Mul", "Cast"):
        node = writers.get(value)
        if node is None or node.op != op or readers[value] != 1:
            if op in ("Floor", "Div"):
                return None
            continue
        if op in factors:
            known = [name for name in node.inputs if name in constants]
            if len(known) != 1 or (op == "Div" and node.inputs[1] != known[0]):
                break
            factors[op] = known[0]
        members.append(value)
        value = next(name for name in node.inputs if name != factors.get(op))
    if not factors["Div"]:
        return None
    limits = (*clip.inputs[1:], "", "")[:2]
    inputs = (value, factors["Mul"], factors["Add"], factors["Div"], *limits)
    return replace(clip, op=JOINED, inputs=inputs), tuple(members)
