"""Knows what is said of operators that compute in float on quantised values: one warning for all of which the same is
true, each operator by its name in the file, and what can be done about it, or that nothing can.
Does not know why an island has no integer form; whoever lowers it says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from tilewright.errors import Diagnostic
from tilewright.ir.graphs.graph import Graph, Node

NOT_QUANTISED = "its result is not quantised"  # where nobody gives another reason
_NAMED = 4  # places of one warning
# What operators of ONNX have become, by what they are made of.
_WRITTEN_AS: Mapping[tuple[str, ...], str] = MappingProxyType({("Add", "Max", "Min", "Mul"): "PRelu"})
# What a reason says -> what can be done; the first that is found counts.
_ADVICE = (
    ("no integer form|integer form for|broadcasts its input|MatMul of a vector|outside what integer", ""),
    ("depends on no tensor", "compute it before the export: it is constant"),
    ("Gemm has alpha or beta", "export it with alpha and beta 1, multiplied into weights and bias"),
    ("bias .* does not fit|rounding the bias", "give input or weights a larger scale: a bias counts in their product"),
    ("bias .* (elements for|scales for)", "give the bias an element, and a scale, for each output channel"),
    ("bias .*not constant|bias is not constant", "store the bias as a constant"),
    ("weight .*not constant|weight is not quantised", "store the weight as a constant of 8 bits, with its scales"),
    ("weight .*scales along axis", "quantise the weight per tensor, or per output channel"),
    ("(scale|zero point) of .*not constant", "store scales and zero points as constants"),
    ("scale per block", "quantise it per tensor, or the weights per output channel"),
    ("scale per channel", "quantise the result with one scale"),
    ("ratio of its scales|scales are not finite", "quantise with scales that are no further apart than float32 holds"),
    ("not 8 bits", "quantise it to 8 bits (int8 or uint8)"),
    ("not 8 or 16 bits", "quantise it to 8 bits (int8 or uint8), or to 16"),
    ("a line between", "quantise its input to the range that it has, or to 8 bits"),
    ("result of 8 bits", "quantise input and result to as many bits"),
    (NOT_QUANTISED, "quantise its result, too: a QuantizeLinear behind it"),
    ("not quantised", "quantise it as the other inputs are"),
)  # fmt: skip


def left_in_float(
    graph: Graph, reasons: Mapping[str, str], covered: Collection[str], lowered: Collection[str]
) -> tuple[Diagnostic, ...]:
    """Of every operator that computes in float on something that was quantised. `reasons`: by node; `covered`: nodes
    for which another one speaks; `lowered`: operators of which some have an integer form.
    """
    whole = _written_operators(graph)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for node in _tainted(graph):
        if node.name in covered:
            continue
        origin = node.origin[0] if len(node.origin) == 1 else ""
        label = whole.get(origin, node.op)
        reason = reasons.get(node.name, NOT_QUANTISED)
        if origin in whole:
            reason = f"{label} has no integer form here"
        places = groups.setdefault((label, reason, _advice(label, reason, lowered)), [])
        places.append(origin if origin in whole else node.name)
    return tuple(_warning(*said, tuple(dict.fromkeys(places))) for said, places in groups.items())


def _tainted(graph: Graph) -> Iterator[Node]:
    """The operators that read what was quantised, or what one of them has written."""
    tainted: set[str] = set()
    for node in graph.nodes:
        if node.op == "DequantizeLinear" and node.inputs[1] in graph.constants:
            tainted.update(node.outputs)
        elif node.op != "QuantizeLinear" and tainted.intersection(node.inputs):
            tainted.update(node.outputs)
            yield node


def _written_operators(graph: Graph) -> dict[str, str]:
    """By the name of a node of the file the operator that it was, where it has become several."""
    made: dict[str, list[str]] = {}
    for node in graph.nodes:
        if len(node.origin) == 1:
            made.setdefault(node.origin[0], []).append(node.op)
    result = {name: _WRITTEN_AS.get(tuple(sorted(ops))) for name, ops in made.items()}
    return {name: op for name, op in result.items() if op is not None}


def _advice(label: str, reason: str, lowered: Collection[str]) -> str:
    """What to change; "" where nothing makes integers of it."""
    if reason == NOT_QUANTISED and label not in lowered:
        return ""
    return next((advice for pattern, advice in _ADVICE if re.search(pattern, reason)), "")


def _warning(label: str, reason: str, advice: str, places: Sequence[str]) -> Diagnostic:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    count = f" ({len(places)} times)" if len(places) > 1 else ""
    nothing = f"accept the float step: no quantisation makes {label} integers here"
    return Diagnostic(
        code="TW3001",
        severity="warning",
        message=f"{label} is computed in float{count}, though its inputs are quantised: {reason}",
        where=", ".join(places[:_NAMED]) + more,
        fix=(f"{advice}, or accept the float step" if advice else nothing,),
    )
