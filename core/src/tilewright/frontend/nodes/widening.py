"""Knows how an operator without a form for floats of 16 or 64 bits is computed: on float32 copies. Results of 16 bits
are rounded once, those of 64 bits are as precise as float32. Does not know any operator.
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


def has_doubles(node: OnnxNode, graph: Conversion) -> bool:
    """Whether the node has an input of 64-bit floats."""
    return any(name and graph.tensor(name).dtype is DType.F64 for name in node.inputs)


def convert_on_float32(
    node: OnnxNode, signature: Import, graph: Conversion, written: Callable[[OnnxNode, str], str]
) -> None:
    """Import the node on float32. `written` maps an output of a node that was just imported to its value."""
    types = {index: graph.tensor(name).dtype for index, name in enumerate(node.inputs) if name}
    copied = {index: dtype for index, dtype in types.items() if dtype.is_half or dtype is DType.F64}
    inputs = tuple(
        _wide(node, graph, name, index) if index in copied else name for index, name in enumerate(node.inputs)
    )
    narrow = {output: _type_of(node, index, copied) for index, output in enumerate(node.outputs)}
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
            to = dtype if computed is DType.F32 else computed  # of another type: it was no such float
            graph.emit(node, "Cast", (value,), (output,), {"to": to.value}, "rounded")


def widened(halves: Sequence[str], doubles: Sequence[str]) -> Iterator[Diagnostic]:
    """The notes on nodes that were imported on float32, by their operators; nothing where there are none."""
    rounded = "results are rounded once, as elsewhere; the copies take memory while such a node runs"
    narrow = "results are as precise as float32, and stay so; --bind or float32 exports need no copies"
    for operators, bits, detail in ((halves, 16, rounded), (doubles, 64, narrow)):
        if operators:
            counts = ", ".join(f"{name} ({count})" for name, count in sorted(Counter(operators).items()))
            nodes = "1 node computes" if len(operators) == 1 else f"{len(operators)} nodes compute"
            yield Diagnostic(
                code="TW2104",
                severity="note",
                message=f"{nodes} floats of {bits} bits on float32 copies: {counts}",
                details=(detail,),
            )


def _wide(node: OnnxNode, graph: Conversion, name: str, index: int) -> str:
    known = graph.constant(name)
    if known is not None:
        return graph.add_constant(known.astype(DType.F32.numpy), f"wide_input_{index}")
    return graph.emit(node, "Cast", (name,), (), {"to": "f32"}, f"wide_input_{index}")


def _type_of(node: OnnxNode, index: int, copied: dict[int, DType]) -> DType | None:
    """The type that an output takes from inputs that were copied; None for an output with a type of its own."""
    schema = schema_of(node.op_type, node.version, node.domain)
    if schema is None or not schema.outputs:
        return next(iter(copied.values()))
    variable = schema.outputs[min(index, len(schema.outputs) - 1)]
    same = (dtype for position, dtype in copied.items() if schema.parameter(position).variable == variable)
    return next(same, None)
