"""Knows the two ways in which the import of a node fails, and how all refusals of a model become one error.
Does not know why; reasons come from import functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilewright.errors import TilewrightError, model_error, typed, unsupported_error
from tilewright.frontend.reading.names import show, show_all

_GROUPS = 12  # shown; with head and tail they fill a screen
_REASON = 160  # characters
_QUANTISED_LATE = ("ConvInteger-", "MatMulInteger-", "DynamicQuantize")  # what `quantize_dynamic` of onnxruntime writes


class RefusedNode(Exception):
    """The node is valid, but tilewright cannot take it: collected, exit code 4."""


class InvalidNode(Exception):
    """The node breaks ONNX's rules: exit code 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAt:
    """One refusal: which node, as the file has it, and why."""

    signature: str  # Resize-13
    node: str
    shapes: str
    reason: str


def invalid_node(reason: str, where: str) -> TilewrightError:
    """A node that breaks ONNX's rules."""
    return model_error(
        "TW1218",
        shorten(reason),
        where=where,
        fix=("the model computes nothing meaningful here: look at this node in Netron and export again",),
    )


def refusal_error(refused: Sequence[RefusedAt], total: int) -> TilewrightError:
    """One error that lists every refused node, those with one operator and reason together."""
    groups: dict[tuple[str, str], list[RefusedAt]] = {}
    for item in refused:
        groups.setdefault((item.signature, item.reason), []).append(item)
    details = [_group_text(items) for items in list(groups.values())[:_GROUPS]]
    if len(groups) > _GROUPS:
        details.append(f"and {len(groups) - _GROUPS} more kinds")
    return unsupported_error(
        "TW2101",
        f"{len(refused)} of {total} nodes cannot be imported",
        where=f"node {show(refused[0].node)}",
        details=tuple(details),
        fix=(
            *_other_exports(refused),
            typed("tilewright", "ops", gives="what is supported"),
            typed("tilewright", "explain", "TW2101", gives="how a plugin adds an operator, and other ways out"),
        ),
    )


def _other_exports(refused: Sequence[RefusedAt]) -> Iterator[str]:
    """What to do instead, where scales are only found while the network runs, and where operators are those of
    skl2onnx: many have a form in ONNX's own.
    """
    if any(item.signature.rpartition(":")[2].startswith(_QUANTISED_LATE) for item in refused):
        gives = "quantises the float network with samples; this one has scales of `quantize_dynamic`"
        yield typed("tilewright", "quantize", "--help", gives=gives)
    learnt = [item.signature for item in refused if item.signature.startswith("ai.onnx.ml:")]
    if learnt:
        never = any("Ensemble" in name or "SVM" in name for name in learnt)
        but = " (trees and SVMs have no other form)" if never else ""
        yield f"export again without ai.onnx.ml{but}: the explanation of TW2101 says how"


def _group_text(items: Sequence[RefusedAt]) -> str:
    first = items[0]
    count = f" x{len(items)}" if len(items) > 1 else ""
    shapes = f" ({first.shapes})" if first.shapes else ""
    return f"{first.signature}{count} {show_all((item.node for item in items), 2)}{shapes}: {first.reason}"


def shorten(reason: str) -> str:
    """A reason in one line of bounded length, nothing invisible in it."""
    text = "".join(character if character.isprintable() else " " for character in reason)
    return text if len(text) <= _REASON else text[: _REASON - 3] + "..."
