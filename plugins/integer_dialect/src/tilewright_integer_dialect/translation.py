"""Knows how a model of the dialect becomes one that says what it computes: integers have integer types, and nodes are
ONNX's on integers or operators of this package. Does not know what single operators mean (`rules`).

    nodes in order -> chains as one node each -> every node by its rule -> a protobuf of operator set 18
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tilewright.api import Diagnostic, unsupported_error
from tilewright.api.graph import DType
from tilewright.api.importer import ImportedModel, Limits
from tilewright_integer_dialect.chains import with_chains_joined
from tilewright_integer_dialect.file_nodes import FileNode, OddNode, file_nodes, in_order
from tilewright_integer_dialect.rules.table import RULES
from tilewright_integer_dialect.values import Value, range_of
from tilewright_integer_dialect.writing import DOMAIN, ONNX_TYPES, OPSET, Writing

_SHOWN = 20  # nodes of one message
_FEW = 4  # of a warning


def translate(model: Any, types: Mapping[str, DType], limits: Limits) -> ImportedModel:
    """See `Dialect.translate`. TilewrightError (exit 4): TW2101 with every node that cannot be taken. Warnings:
    TW1251 about inputs whose type nobody says, TW1252 about results that may leave 32 bits.
    """
    writing = Writing(model.graph)
    assumed = tuple(_inputs(model, types, writing))
    odd: list[str] = []
    nodes = with_chains_joined(in_order(file_nodes(model.graph.node)), writing.constants)
    for node in nodes:
        _take(node, writing, odd)
    if odd:
        raise _refused(odd)
    return ImportedModel(model=_finished(model, writing), diagnostics=(*assumed, *_wrapping(writing.wide)))


def _take(node: FileNode, writing: Writing, odd: list[str]) -> None:
    if any(name and not writing.has(name) for name in node.inputs):
        return  # what it reads was refused, or is written by nobody
    try:
        rule = RULES.get(node.op)
        if rule is None:
            raise OddNode("the operator has no meaning on whole numbers here")
        rule(node, writing)
    except OddNode as reason:
        odd.append(f"{node.label}: {reason}")


def _inputs(model: Any, types: Mapping[str, DType], writing: Writing) -> Iterable[Diagnostic]:
    """Give every input of the model its type: what is asked for, the file's where that is an integer, else int8."""
    for declared in model.graph.input:
        if declared.name in writing.constants:
            continue
        own = {number: dtype for dtype, number in ONNX_TYPES.items()}.get(declared.type.tensor_type.elem_type)
        dtype = types.get(declared.name) or own or DType.I8
        shape = writing.shape(declared.name)
        writing.define(declared.name, Value(name=declared.name, dtype=dtype, range=range_of(dtype), shape=shape))
        if own is None and declared.name not in types:
            yield Diagnostic(
                code="TW1251",
                severity="warning",
                message=f"input '{declared.name}' is taken for int8: it is a float that holds whole numbers",
                where=f"input '{declared.name}'",
                fix=(
                    f"--io-type {declared.name}=uint8 if it holds 0 to 255, or {declared.name}=int8 if this is right",
                ),
            )


def _wrapping(wide: list[str]) -> Iterable[Diagnostic]:
    if wide:
        more = (f"and {len(wide) - _FEW} more",) if len(wide) > _FEW else ()
        yield Diagnostic(
            code="TW1252",
            severity="warning",
            message=f"{len(wide)} result{'s' if len(wide) > 1 else ''} may leave 32 bits, and wrap around then",
            details=(*wide[:_FEW], *more),
            fix=("say smaller types of inputs: --io-type NAME=int8", "or put a RequantShift before these nodes"),
        )


def _refused(odd: list[str]) -> Exception:
    count, more = len(odd), (f"and {len(odd) - _SHOWN} more",) if len(odd) > _SHOWN else ()
    return unsupported_error(
        "TW2101",
        f"{count} node{'s' if count > 1 else ''} of this network of whole numbers cannot be taken",
        details=(*odd[:_SHOWN], *more),
        fix=("change these layers before the export", "or bring the operators with a plugin"),
    )


def _finished(model: Any, writing: Writing) -> Any:
    """The protobuf of what was written, with the names of the file's inputs and outputs."""
    from onnx import helper

    def ends(declared: Iterable[Any]) -> list[Any]:
        result = (writing.values.get(each.name) for each in declared)
        return [
            helper.make_tensor_value_info(value.name, ONNX_TYPES[value.dtype], _dims(each))
            for each, value in zip(declared, result, strict=True)
            if value is not None
        ]

    inputs = [each for each in model.graph.input if each.name not in writing.constants]
    graph = helper.make_graph(
        writing.nodes, model.graph.name or "network", ends(inputs), ends(model.graph.output), writing.initializers
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _dims(declared: Any) -> list[int | str | None] | None:
    kind = declared.type.tensor_type
    if not kind.HasField("shape"):
        return None
    return [dim.dim_param or (dim.dim_value if dim.HasField("dim_value") else None) for dim in kind.shape.dim]
