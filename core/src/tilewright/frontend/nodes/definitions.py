"""Knows the bodies that ONNX itself gives operators that others make up, such as Attention: as functions to be inlined.
Does not know what the nodes in a body mean, nor how a body is walked.

The package onnx has them (`onnx.defs`); some depend on a call's attributes and on the types of its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tilewright.frontend.reading.file_model import FileAttribute, FileFunction, FileNode
from tilewright.frontend.reading.import_options import Limits
from tilewright.frontend.reading.names import show_all
from tilewright.frontend.reading.reader import read_attribute, read_function
from tilewright.frontend.reading.refusals import InvalidNode, RefusedNode
from tilewright.ir.graphs.graph import Tensor
from tilewright.ir.tensors.element_types import ELEMENT_TYPES


def is_defined(node: FileNode) -> bool:
    """Whether ONNX says by other operators what this one is. Raises RefusedNode for an attribute it does not have."""
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
    given = tuple(read_attribute(each, limits) for each in defaults if each.type)
    return replace(function, defaults=(*given, *function.defaults))


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
    """The newest one that `version` may have; the oldest where all are newer: ONNX wrote some bodies afterwards."""
    return max((each for each in versions if each <= version), default=min(versions))


def _proto(node: FileNode) -> bytes:
    import onnx

    proto = onnx.NodeProto(op_type=node.op_type, name=node.name, input=node.inputs, output=node.outputs)
    for attribute in node.attributes:
        proto.attribute.append(_attribute_proto(attribute))
    return bytes(proto.SerializeToString())


def _attribute_proto(attribute: FileAttribute) -> Any:
    from onnx import helper

    value: Any = attribute.value
    if not isinstance(value, int | float | bytes | tuple):
        raise RefusedNode(f"attribute {attribute.name} is {attribute.kind}, which no definition is made with")
    return helper.make_attribute(attribute.name, value)


def _type(tensor: Tensor | None) -> bytes:
    import onnx
    from onnx import helper

    if tensor is None:
        return bytes(onnx.TypeProto().SerializeToString())
    number = next(number for number, dtype in ELEMENT_TYPES.items() if dtype is tensor.dtype)
    return bytes(helper.make_tensor_type_proto(number, tensor.shape).SerializeToString())
