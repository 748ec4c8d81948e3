"""Knows what looks at whole rows: softmax, norms, means and sums. Does not know their C."""

from __future__ import annotations

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.rules.movement import axes_of
from tilewright_integer_dialect.rules.requantisation import limits_of, log2
from tilewright_integer_dialect.values import Range, elements, range_of
from tilewright_integer_dialect.writing import Writing


def softmax(node: FileNode, writing: Writing) -> None:
    """A polynomial and a shift for the exponential; results are from 0 to n_levels - 1."""
    words = {name.lower(): node.integer(name) for name in ("coeffA", "coeffB", "coeffC", "log2")}
    if words["log2"] <= 0:
        raise OddNode(f"log2 is {words['log2']}")
    _of_bytes(node, writing, "iSoftmax", words)


def ita_max(node: FileNode, writing: Writing) -> None:
    """Powers of two in place of the exponential."""
    _of_bytes(node, writing, "ITAMax", {"group": 0})


def ita_partial_max(node: FileNode, writing: Writing) -> None:
    """The same, over groups that arrive one after the other."""
    group = node.integer("group_width")
    if group < 1:
        raise OddNode(f"groups of {group}")
    _of_bytes(node, writing, "ITAMax", {"group": group})


def _of_bytes(node: FileNode, writing: Writing, op: str, words: dict[str, int]) -> None:
    levels = node.integer("n_levels", default=256)
    if not 2 <= levels <= 256:
        raise OddNode(f"{levels} levels")
    x = writing.bytes_of(writing.value(node, 0))
    writing.emit(node, op, [x], DType.U8, Range(low=0, high=levels - 1), {**words, "levels": levels}, own=True)


def layer_norm(node: FileNode, writing: Writing) -> None:
    """Rows without their mean, over the root of their variance."""
    operands = [writing.value(node, 0), *(writing.in_type(writing.value(node, index), DType.I32) for index in (1, 2))]
    limits = limits_of(node)
    words = {"shift": log2(node.integer("D")), "low": limits.low, "high": limits.high}
    writing.emit(node, "iLayerNorm", operands, limits.dtype, limits, words, own=True)


def rms_norm(node: FileNode, writing: Writing) -> None:
    """Rows over the root of their mean square."""
    operands = [writing.value(node, 0), writing.in_type(writing.value(node, 1), DType.I32)]
    limits = limits_of(node)
    words = {"shift": log2(node.integer("D")), "low": limits.low, "high": limits.high}
    writing.emit(node, "iRMSNorm", operands, limits.dtype, limits, words, own=True)


def mean(node: FileNode, writing: Writing) -> None:
    """The mean to the nearest, halves away from zero, but up where the count is a power of two."""
    x, axes = writing.value(node, 0), axes_of(node, writing) or ()
    words = {"axes": list(axes), "keepdims": node.integer("keepdims", default=1)}
    writing.emit(node, "IntegerMean", [x], x.dtype, x.range, words, own=True)


def total(node: FileNode, writing: Writing) -> None:
    """The exact sum."""
    x, axes = writing.in_type(writing.value(node, 0), DType.I32), axes_of(node, writing)
    named = range(len(x.shape or ())) if axes is None else axes
    count = elements(writing.value(node, 0).shape, tuple(named))
    result = range_of(DType.I32) if count is None else x.range.times(count)
    others = [] if axes is None else [writing.constant(axes, DType.I64, f"{node.name}_axes")]
    keeps = {"keepdims": node.integer("keepdims", default=1)}
    writing.emit(node, "ReduceSum", [x, *others], DType.I32, result, keeps)
