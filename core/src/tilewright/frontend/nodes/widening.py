"""Knows how an operator without a form for floats of 16 bits is computed: on float32, its results rounded once.
Does not know any operator.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from tilewright.errors import Diagnostic
from tilewright.frontend.schemas import schema_of
from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode
from tilewright.ir.tensors.dtypes import DType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


def needs_width(node: OnnxNode, signature: Import, graph: Conversion) -> bool:
    """Whether the node has an input of 16-bit floats that its import does not take."""
    return not signature.halves and any(name and graph.tensor(name).dtype.is_half for name in node.inputs)


def convert_wide(node: OnnxNode, signature: Import, graph: Conversion, written: Callable[[OnnxNode, str], str]) -> None:
    """Import the node on float32. `written` maps an output of a node that was just imported to its value."""
    halves = {
        index: graph.tensor(name).dtype
        for index, name in enumerate(node.inputs)
        if name and graph.tensor(name).dtype.is_half
    }
    inputs = tuple(
        _wide(node, graph, name, index) if index in halves else name for index, name in enumerate(node.inputs)
    )
    narrow = {output: _type_of(node, index, halves) for index, output in enumerate(node.outputs)}
    names = {
        output: output if dtype is None else graph.name(node, f"wide_{index}")
        for index, (output, dtype) in enumerate(narrow.items())
    }
    unread = frozenset(names[output] for output in node.unread)
    inner = replace(node, inputs=inputs, outputs=tuple(names.values()), unread=unread)
    signature.convert(inner, graph)
    for output, dtype in narrow.items():
        if dtype is not None and output not in node.unread:
            value = written(inner, names[output])
            computed = graph.tensor(value).dtype
            to = dtype if computed is DType.F32 else computed  # of another type: it was no float of 16 bits
            graph.emit(node, "Cast", (value,), (output,), {"to": to.value}, "rounded")


def widened(operators: Sequence[str]) -> Iterator[Diagnostic]:
    """The note on nodes that were imported on float32, by their operators; nothing where there are none."""
    if operators:
        counts = ", ".join(f"{name} ({count})" for name, count in sorted(Counter(operators).items()))
        nodes = "1 node computes" if len(operators) == 1 else f"{len(operators)} nodes compute"
        yield Diagnostic(
            code="TW2104",
            severity="note",
            message=f"{nodes} floats of 16 bits on float32 copies: {counts}",
            details=("results are rounded once, as elsewhere; the copies take memory while such a node runs",),
        )


def _wide(node: OnnxNode, graph: Conversion, name: str, index: int) -> str:
    known = graph.constant(name)
    if known is not None:
        return graph.add_constant(known.astype(DType.F32.numpy), f"wide_input_{index}")
    return graph.emit(node, "Cast", (name,), (), {"to": "f32"}, f"wide_input_{index}")


def _type_of(node: OnnxNode, index: int, halves: dict[int, DType]) -> DType | None:
    """The 16-bit type that an output takes from inputs; None for an output with a type of its own."""
    schema = schema_of(node.op_type, node.version, node.domain)
    if schema is None or not schema.outputs:
        return next(iter(halves.values()))
    variable = schema.outputs[min(index, len(schema.outputs) - 1)]
    same = (dtype for position, dtype in halves.items() if schema.parameter(position).variable == variable)
    return next(same, None)
