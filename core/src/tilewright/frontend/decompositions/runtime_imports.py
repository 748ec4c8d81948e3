"""Knows how operators of onnxruntime's own domain are listed. Does not know what any of them means."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tilewright.ir.graphs.importing import Conversion, Import, OnnxNode

MICROSOFT = "com.microsoft"
Convert = Callable[[OnnxNode, Conversion], None]
Row = tuple[str, Mapping[str, str], Convert, int, int]  # operator, attributes, convert; inputs: least, most


def runtime_imports(*rows: Row) -> tuple[Import, ...]:
    """Of these operators, in the only version that the domain has."""
    return tuple(
        Import(
            op_type=op_type,
            since=1,
            domain=MICROSOFT,
            attributes=attributes,
            convert=convert,
            min_inputs=least,
            max_inputs=most,
        )
        for op_type, attributes, convert, least, most in rows
    )
