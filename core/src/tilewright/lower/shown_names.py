"""Knows how comments call what a model's author named: by short names, which a table at the end of the file spells out.
Does not know what is said about the nodes, tensors and constants that have these names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tilewright.c_text.identifiers import comment_name, comment_text
from tilewright.ir.graphs.graph import Node
from tilewright.ir.plans.stages import Allocated
from tilewright.ir.programs.program import NamesInFull
from tilewright.ir.short_names import short_names


def shown_names(allocated: Allocated) -> dict[str, str]:
    """Name -> what comments call it: of a step, the first node that it stands for, and a buffer as in the report."""
    buffers = (buffer.name for buffer in allocated.tiled.buffers)
    return {name: comment_text(short) for name, short in short_names((*_named(allocated), *buffers)).items()}


def names_in_full(allocated: Allocated, shown: Mapping[str, str]) -> tuple[NamesInFull, ...]:
    """What every short name stands for, in the order of the steps, then the further nodes that a step stands for.

    A name that only adds to another one, and as much in comments, is not there: of `conv`, `conv.W` is known, too.
    """
    order = dict.fromkeys(_named(allocated))
    listed: dict[str, str] = {}
    for name in sorted(order, key=len):
        whole = comment_name(name)
        if shown[name] not in (whole, whole.lstrip("/"), _added(name, listed)):
            listed[name] = shown[name]
    short = (NamesInFull(of=listed[name], names=(comment_name(name),)) for name in order if name in listed)
    further = (
        NamesInFull(
            of=f"step {index}, beside {shown[node.origin[0]]}",
            names=tuple(comment_name(_added(name, shown) or name) for name in node.origin[1:]),
        )
        for index, node in enumerate(_nodes(allocated))
        if node.origin[1:]
    )
    return (*short, *further)


def _added(name: str, short: Mapping[str, str]) -> str:
    """The short form of the longest name that this one adds to, and what it adds; "" where there is none."""
    ends = (name[:at] for at in range(len(name), 0, -1))
    known = next((end for end in ends if end in short), "")
    return short[known] + name[len(known) :] if known else ""


def _nodes(allocated: Allocated) -> Iterator[Node]:
    """The node that each step is named after, in order."""
    scheduled = allocated.tiled.scheduled
    nodes = {node.name: node for node in scheduled.bound.graph.nodes}
    return (nodes[step.name] for step in scheduled.steps)


def _named(allocated: Allocated) -> Iterator[str]:
    """Steps, the first node of each, and what they read and write."""
    scheduled = allocated.tiled.scheduled
    for node in _nodes(allocated):
        yield from (node.name, *node.origin[:1])
        yield from (value for value in (*node.inputs, *node.outputs) if value in scheduled.storage)
        yield from scheduled.bound.bindings[node.name].constants.values()
