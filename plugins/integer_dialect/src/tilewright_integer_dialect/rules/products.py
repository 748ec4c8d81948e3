"""Knows Conv, Gemm and MatMul on whole numbers: exact sums of 32 bits, bounded by the weights.
Does not know how sums are requantised (`requantisation`).
"""

from __future__ import annotations

from typing import Any

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.rules.requantisation import merged_shift, write_shift
from tilewright_integer_dialect.values import Range, Value, range_of
from tilewright_integer_dialect.writing import Writing

_WINDOWS = ("kernel_shape", "strides", "pads", "dilations")


def conv(node: FileNode, writing: Writing) -> None:
    """X, W and optionally B."""
    bias = writing.value(node, 2) if len(node.inputs) > 2 and node.inputs[2] else None
    _conv(node, writing, bias, "")


def requantized_conv(node: FileNode, writing: Writing) -> None:
    """X, W, mul, add, and the shift that `div` says, too."""
    total = _conv(node, writing, None, "sums")
    write_shift(node, writing, total, merged_shift(node, writing, 2))


def gemm(node: FileNode, writing: Writing) -> None:
    """alpha * A B + beta * C."""
    added = writing.value(node, 2) if len(node.inputs) > 2 and node.inputs[2] else None
    _gemm(node, writing, added, "")


def requantized_gemm(node: FileNode, writing: Writing) -> None:
    """A, B, and optionally C, before mul and add."""
    operands = len(node.inputs) - (3 if len(node.inputs) > 5 else 2)
    added = writing.value(node, 2) if operands > 2 else None
    total = _gemm(node, writing, added, "sums")
    write_shift(node, writing, total, merged_shift(node, writing, operands))


def matmul(node: FileNode, writing: Writing) -> None:
    """A B, either of them constant or computed."""
    a, b = (writing.bytes_of(writing.value(node, index)) for index in (0, 1))
    writing.emit(node, "MatMulInteger", [a, b], DType.I32, _product(a, b))


def _conv(node: FileNode, writing: Writing, bias: Value | None, hint: str) -> Value:
    x, w = (writing.bytes_of(writing.value(node, index)) for index in (0, 1))
    words = {name: node.words(name) for name in _WINDOWS}
    attributes: dict[str, Any] = {name: list(word) for name, word in words.items() if word is not None}
    attributes["group"] = node.integer("group", default=1)
    if node.has("auto_pad"):
        attributes["auto_pad"] = node.text("auto_pad", "NOTSET")
    padded = Range(low=min(x.range.low, 0), high=max(x.range.high, 0))
    total = range_of(DType.I32) if w.array is None else _weighted(w.array.reshape(w.array.shape[0], -1).T, padded)
    sums_hint = hint if bias is None else "sums"
    sums = writing.emit(node, "ConvInteger", [x, w], DType.I32, total, attributes, hint=sums_hint)
    if bias is None:
        return sums
    if bias.array is None or w.array is None:
        raise OddNode("weights and bias must be constants")
    shaped = writing.constant(bias.array.reshape(1, -1, *(1,) * (w.array.ndim - 2)), DType.I32, f"{bias.name}_sums")
    return writing.emit(node, "Add", [sums, shaped], DType.I32, sums.range + bias.range, hint=hint)


def _gemm(node: FileNode, writing: Writing, added: Value | None, hint: str) -> Value:
    """Sums; without `hint` the last of them is the output of the node."""
    a, b = (_turned(node, writing, index, name) for index, name in ((0, "transA"), (1, "transB")))
    alpha, beta = (node.integer(name, default=1) for name in ("alpha", "beta"))
    beta = beta if added is not None else 0
    last = "added" if beta else ("scaled" if alpha != 1 else "product")
    names = {step: hint if step == last else step for step in ("product", "scaled", "added")}
    total = writing.emit(node, "MatMulInteger", [a, b], DType.I32, _product(a, b), hint=names["product"])
    if alpha != 1:
        factor = writing.constant(alpha, DType.I32, f"{node.name}_alpha")
        total = writing.emit(node, "Mul", [total, factor], DType.I32, total.range * factor.range, hint=names["scaled"])
    if beta and added is not None:
        bias = _times(node, writing, added, beta)
        total = writing.emit(node, "Add", [total, bias], DType.I32, total.range + bias.range, hint=names["added"])
    return total


def _times(node: FileNode, writing: Writing, value: Value, factor: int) -> Value:
    if value.array is not None:
        return writing.constant(value.array * factor, DType.I32, f"{value.name}_times")
    wide = writing.in_type(value, DType.I32)
    if factor == 1:
        return wide
    number = writing.constant(factor, DType.I32, f"{node.name}_beta")
    return writing.emit(node, "Mul", [wide, number], DType.I32, wide.range * number.range, hint="beta")


def _turned(node: FileNode, writing: Writing, index: int, flag: str) -> Value:
    value = writing.bytes_of(writing.value(node, index))
    if not node.integer(flag, default=0):
        return value
    if value.array is not None:
        return writing.constant(value.array.T, value.dtype, f"{value.name}_turned")
    turned = writing.emit(
        node, "Transpose", [value], value.dtype, value.range, {"perm": [1, 0]}, hint=f"turned_{index}"
    )
    return Value(
        name=turned.name,
        dtype=turned.dtype,
        range=turned.range,
        shape=None if value.shape is None else value.shape[::-1],
    )


def _product(a: Value, b: Value) -> Range:
    """What the sums of a matrix product can be."""
    import numpy as np

    if b.array is not None:
        return _weighted(b.array if b.array.ndim > 1 else b.array[:, None], a.range)
    if a.array is not None:
        return _weighted(np.swapaxes(a.array, -1, -2) if a.array.ndim > 1 else a.array[:, None], b.range)
    shapes = [shape[-1] for shape in (a.shape,) if shape] + [b.shape[-2] for _ in "b" if b.shape and len(b.shape) > 1]
    return (a.range * b.range).times(shapes[0]) if shapes else range_of(DType.I32)


def _weighted(weights: Any, x: Range) -> Range:
    """The range of sums along the last axis but one."""
    import numpy as np

    above, below = np.maximum(weights, 0).sum(axis=-2), np.minimum(weights, 0).sum(axis=-2)
    low, high = above * x.low + below * x.high, above * x.high + below * x.low
    return Range(low=int(low.min(initial=0)), high=int(high.max(initial=0)))
