"""Knows functions, those of the file and those by which ONNX defines operators such as Attention: whether they end, how
large they are when inlined, and what a call's body is. Does not know what nodes in a body mean.

The package onnx has the definitions (`onnx.defs`); some depend on a call's attributes and on the types of its inputs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tilewright.errors import TilewrightError, model_error
from tilewright.frontend.reading.file_model import (
    FileAttribute,
    FileFunction,
    FileGraph,
    FileModel,
    FileNode,
    FunctionKey,
)
from tilewright.frontend.reading.names import show, show_all
from tilewright.frontend.reading.reader import over_limit, read_attribute, read_function, too_many_nodes
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.graphs.model_formats import Limits
from tilewright.ir.tensors.dtypes import ELEMENT_TYPES


def function_key(node: FileNode) -> FunctionKey:
    """Domain, name and overload, which select the function of a call."""
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
    calls: dict[FunctionKey, list[FunctionKey]] = {}
    for key, function in functions.items():
        called = dict.fromkeys(function_key(node) for node in _with_bodies(function.nodes))
        calls[key] = [callee for callee in called if callee in functions]
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


def _recursion(functions: list[FileFunction]) -> TilewrightError:
    names = show_all((function.name for function in functions), 6)
    return model_error(
        "TW1214",
        f"local functions call each other without end: {names}",
        where=f"function {show(functions[0].name)}",
        fix=("the file is broken or hostile: export the model again",),
    )


def body_of(call: FileNode, function: FileFunction) -> tuple[FileNode, ...]:
    """The function's nodes, the attributes of `call` in place of references to them."""
    arguments = {attribute.name: attribute for attribute in function.defaults}
    arguments.update((attribute.name, attribute) for attribute in call.attributes)
    return tuple(_bound(node, arguments) for node in function.nodes)


def _bound(node: FileNode, arguments: Mapping[str, FileAttribute]) -> FileNode:
    if not node.attributes:
        return node
    attributes = (_resolved(attribute, arguments) for attribute in node.attributes)
    return replace(node, attributes=tuple(attribute for attribute in attributes if attribute is not None))


def _resolved(attribute: FileAttribute, arguments: Mapping[str, FileAttribute]) -> FileAttribute | None:
    """None where the call leaves out an attribute without default: then the node has none either."""
    if isinstance(attribute.value, FileGraph):
        body = attribute.value
        return replace(attribute, value=replace(body, nodes=tuple(_bound(node, arguments) for node in body.nodes)))
    if not attribute.reference:
        return attribute
    source = arguments.get(attribute.reference)
    return None if source is None else replace(source, name=attribute.name)


def is_defined(node: FileNode) -> bool:
    """Whether ONNX defines the operator of the node by others. Raises RefusedNode for an attribute it does not have."""
    schema = _schema(node)
    if schema is None or not schema.all_function_opset_versions:
        return False
    unknown = [each.name for each in node.attributes if each.name not in schema.attributes]
    if unknown:
        raise RefusedNode(f"attribute {show_all(unknown)} is not supported")
    return True


def definition(node: FileNode, inputs: Sequence[Tensor | None], limits: Limits) -> FileFunction:
    """The body of a call whose inputs are these. `is_defined` must hold; raises InvalidNode, RefusedNode."""
    schema = _schema(node)
    if not schema.min_input <= len(node.inputs) <= schema.max_input or len(node.outputs) > schema.max_output:
        raise InvalidNode(f"it has {len(node.inputs)} inputs and {len(node.outputs)} outputs, not as ONNX defines it")
    _check_attributes(node, schema)
    body = _body(node, schema, inputs)
    if not body:
        raise RefusedNode("ONNX has no definition of it by other operators for these attributes and types")
    function = read_function(body, limits)
    defaults = [attribute.default_value for attribute in schema.attributes.values()]
    own = tuple(read_attribute(default, limits) for default in defaults if default.type)
    return replace(function, defaults=(*own, *function.defaults))


def _schema(node: FileNode) -> Any:
    import onnx.defs

    if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=node.version):
        return None
    return onnx.defs.get_schema(node.op_type, max_inclusive_version=node.version)


def _check_attributes(node: FileNode, schema: Any) -> None:
    kinds = {each.name: each.kind for each in node.attributes}
    for name, attribute in schema.attributes.items():
        if attribute.required and name not in kinds:
            raise InvalidNode(f"attribute {name} is missing")
        if kinds.get(name, attribute.type.name) != attribute.type.name:
            raise InvalidNode(f"attribute {name} is {kinds[name]}, not {attribute.type.name}")


def _body(node: FileNode, schema: Any, inputs: Sequence[Tensor | None]) -> bytes:
    """The body as protobuf; empty where ONNX makes none."""
    if schema.function_opset_versions:
        return bytes(schema.get_function_with_opset_version(_chosen(schema.function_opset_versions, node.version)))
    version = _chosen(schema.context_dependent_function_opset_versions, node.version)
    types = [_type(tensor) for tensor in inputs]
    return bytes(schema.get_context_dependent_function_with_opset_version(version, _proto(node), types))


def _chosen(versions: Sequence[int], version: int) -> int:
    """The newest version up to `version`; the oldest where all are newer: ONNX wrote some bodies afterwards."""
    return max((each for each in versions if each <= version), default=min(versions))


def _proto(node: FileNode) -> bytes:
    import onnx
    from onnx import helper

    proto = onnx.NodeProto(op_type=node.op_type, name=node.name, input=node.inputs, output=node.outputs)
    for attribute in node.attributes:
        value: Any = attribute.value
        if not isinstance(value, int | float | bytes | tuple):
            raise RefusedNode(f"attribute {attribute.name} is {attribute.kind}, which no definition is made with")
        proto.attribute.append(helper.make_attribute(attribute.name, value))
    return bytes(proto.SerializeToString())


def _type(tensor: Tensor | None) -> bytes:
    import onnx
    from onnx import helper

    if tensor is None:
        return bytes(onnx.TypeProto().SerializeToString())
    number = next(number for number, dtype in ELEMENT_TYPES.items() if dtype is tensor.dtype)
    return bytes(helper.make_tensor_type_proto(number, tensor.shape).SerializeToString())
