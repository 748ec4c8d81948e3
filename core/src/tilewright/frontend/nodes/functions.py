"""Knows local functions: whether they end, how large they are when inlined, and what a call's body is.
Does not know what the nodes in them mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tilewright.errors import TilewrightError, model_error
from tilewright.frontend.reading.file_model import (
    FileAttribute,
    FileFunction,
    FileGraph,
    FileModel,
    FileNode,
    FunctionKey,
)
from tilewright.frontend.reading.import_options import Limits
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.reader import over_limit, too_many_nodes


def function_key(node: FileNode) -> FunctionKey:
    """What a call is resolved by."""
    return node.domain, node.op_type, node.overload


def check_functions(model: FileModel, limits: Limits) -> None:
    """Raise TW1214 when functions call each other in a circle, TW1203 when inlining them would exceed the limits.

    Counts before anything is inlined: a file of a few kilobytes can describe 2^29 nodes.
    """
    sizes: dict[FunctionKey, tuple[int, int]] = {}
    for key in _callees_first(model.functions):
        sizes[key] = _size(model.functions[key].nodes, sizes, limits)
    _size(model.graph.nodes, sizes, limits)


def _size(nodes: Iterable[FileNode], sizes: Mapping[FunctionKey, tuple[int, int]], limits: Limits) -> tuple[int, int]:
    """Nodes and depth after inlining."""
    count = depth = 0
    for node in _with_bodies(nodes):
        inner, below = sizes.get(function_key(node), (1, -1))
        count += inner
        depth = max(depth, below + 1)
    if count > limits.nodes:
        raise too_many_nodes("with its functions inlined the model has", count, limits.nodes)
    if depth > limits.nesting:
        raise over_limit("functions call each other", depth, "deep", limits.nesting)
    return count, depth


def _with_bodies(nodes: Iterable[FileNode]) -> Iterable[FileNode]:
    for node in nodes:
        yield node
        for body in node.graphs():
            yield from _with_bodies(body.nodes)


def _callees_first(functions: Mapping[FunctionKey, FileFunction]) -> list[FunctionKey]:
    """Every function after those it calls, without recursion of our own."""
    calls = {key: _callees(function, functions) for key, function in functions.items()}
    done: dict[FunctionKey, None] = {}
    for start in functions:
        path: dict[FunctionKey, Iterator[FunctionKey]] = {} if start in done else {start: iter(calls[start])}
        while path:
            key = next(reversed(path))
            below = next((callee for callee in path[key] if callee not in done), None)
            if below is None:
                done[key] = None
                path.popitem()
            elif below in path:
                circle = list(path)
                raise _recursion([functions[item] for item in circle[circle.index(below) :]])
            else:
                path[below] = iter(calls[below])
    return list(done)


def _callees(function: FileFunction, functions: Mapping[FunctionKey, FileFunction]) -> list[FunctionKey]:
    keys = dict.fromkeys(function_key(node) for node in _with_bodies(function.nodes))
    return [key for key in keys if key in functions]


def _recursion(functions: list[FileFunction]) -> TilewrightError:
    names = show_all((function.name for function in functions), 6)
    return model_error(
        "TW1214",
        f"local functions call each other without end: {names}",
        where=f"function {show(functions[0].name)}",
        fix=("the file is broken or hostile: export the model again",),
    )


def body_of(call: FileNode, function: FileFunction) -> tuple[FileNode, ...]:
    """The function's nodes with the attributes of `call` put in where they are referred to."""
    given = {attribute.name: attribute for attribute in function.defaults}
    given.update((attribute.name, attribute) for attribute in call.attributes)
    return tuple(_bound(node, given) for node in function.nodes)


def _bound(node: FileNode, given: Mapping[str, FileAttribute]) -> FileNode:
    if not node.attributes:
        return node
    attributes = (_resolved(attribute, given) for attribute in node.attributes)
    return replace(node, attributes=tuple(attribute for attribute in attributes if attribute is not None))


def _resolved(attribute: FileAttribute, given: Mapping[str, FileAttribute]) -> FileAttribute | None:
    """None where the call leaves out an attribute without default: then the node has none either."""
    if isinstance(attribute.value, FileGraph):
        body = attribute.value
        return replace(attribute, value=replace(body, nodes=tuple(_bound(node, given) for node in body.nodes)))
    if not attribute.reference:
        return attribute
    source = given.get(attribute.reference)
    return None if source is None else replace(source, name=attribute.name)
