"""Knows the order of nodes: every value written once, by one node, before it is read.
Does not know what nodes compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tilewright.errors import TilewrightError, model_error
from tilewright.frontend.reading.file_model import FileNode, reads
from tilewright.frontend.reading.names import show, show_all
from tilewright.ir.graphs.topological import topological_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Sorted:
    """Nodes in an order in which they can run. `moved` is the first that stood before its inputs, if any."""

    nodes: tuple[FileNode, ...]
    moved: FileNode | None


def label(node: FileNode) -> str:
    """How a node is named in messages: by its name, or by its operator and first output."""
    if node.name:
        return f"node {show(node.name)}"
    written = next((name for name in node.outputs if name), "")
    return f"unnamed {show(node.op_type)[1:-1]} node that writes {show(written)}"


def check_unique(names: Iterable[str], what: str) -> None:
    """TW1208 when a name occurs twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise _duplicate(f"{what} {show(name)} is there twice", "")
        seen.add(name)


def sort_nodes(nodes: Sequence[FileNode], known: Iterable[str], visible: Callable[[str], bool]) -> Sorted:
    """`nodes` in order. `known` are values of this body; `visible` says whether a body around it has a value.

    Keeps the file's order where it can. Raises TW1207 for a cycle, TW1208 for a value that is written twice,
    TW1209 for one that is read and never written.
    """
    writer = _writers(nodes, known)
    needs = [reads(node) for node in nodes]
    for node, names in zip(nodes, needs, strict=True):
        for name in names:
            if name not in writer and not visible(name):
                raise _undefined(name, node)
    waiting = [{writer[name] for name in names if writer.get(name, -1) >= 0} for names in needs]
    moved = next((index for index, before in enumerate(waiting) if any(other >= index for other in before)), None)
    if moved is None:
        return Sorted(nodes=tuple(nodes), moved=None)
    order = topological_order(waiting)
    if len(order) < len(nodes):
        raise _cycle([nodes[index] for index in _find_cycle(waiting, set(order))])
    return Sorted(nodes=tuple(nodes[index] for index in order), moved=nodes[moved])


def _writers(nodes: Sequence[FileNode], known: Iterable[str]) -> dict[str, int]:
    """Value -> index of the node that writes it, -1 for inputs and initialisers."""
    writer = dict.fromkeys(known, -1)
    for index, node in enumerate(nodes):
        if not any(node.outputs):
            raise model_error(
                "TW1217", f"a {show(node.op_type)} node has no output", where=label(node), fix=("export again",)
            )
        for name in node.outputs:
            if not name:
                continue
            if name in writer:
                other = f"{label(nodes[writer[name]])} writes it too" if writer[name] >= 0 else "it has a value already"
                raise _duplicate(f"value {show(name)} is written, but {other}", label(node))
            writer[name] = index
    return writer


def _find_cycle(waiting: Sequence[set[int]], done: set[int]) -> list[int]:
    """Indices of one cycle, in the order of the data."""
    index = next(index for index in range(len(waiting)) if index not in done)
    path: dict[int, int] = {}
    while index not in path:
        path[index] = len(path)
        index = min(other for other in waiting[index] if other not in done)
    return list(reversed(list(path)[path[index] :]))


def _cycle(nodes: Sequence[FileNode]) -> TilewrightError:
    names = show_all((node.name or node.op_type for node in nodes), 6)
    return model_error(
        "TW1207",
        f"{len(nodes)} node(s) need each other's results, so none can run first: {names}",
        where=label(nodes[0]),
        fix=("export the model again; a recurrent loop must be unrolled, or its state made an input and an output",),
    )


def _duplicate(reason: str, where: str) -> TilewrightError:
    return model_error(
        "TW1208",
        reason,
        where=where,
        fix=("give every value of the graph a name of its own; a tool that merged two models should rename first",),
    )


def _undefined(name: str, node: FileNode) -> TilewrightError:
    return model_error(
        "TW1209",
        f"value {show(name)} is read, but it is no input, no initialiser, and no node writes it",
        where=label(node),
        fix=("the model was cut apart or edited: export it again",),
    )
