"""Knows what is computed element by element: sums, differences, products, clips, and the dialect's activations.
Does not know their C.
"""

from __future__ import annotations

from tilewright.api.graph import DType
from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.rules.requantisation import Shift, limits_of, log2, merged_shift, write_shift
from tilewright_integer_dialect.values import Range, Value, range_of
from tilewright_integer_dialect.writing import Writing


def add(node: FileNode, writing: Writing) -> None:
    """A + B in 32 bits."""
    a, b = _pair(node, writing)
    writing.emit(node, "Add", [a, b], DType.I32, a.range + b.range)


def sub(node: FileNode, writing: Writing) -> None:
    """A - B in 32 bits."""
    a, b = _pair(node, writing)
    writing.emit(node, "Sub", [a, b], DType.I32, a.range + -b.range)


def mul(node: FileNode, writing: Writing) -> None:
    """A * B in 32 bits."""
    a, b = _pair(node, writing)
    writing.emit(node, "Mul", [a, b], DType.I32, a.range * b.range)


def neg(node: FileNode, writing: Writing) -> None:
    """0 - X in 32 bits."""
    x, zero = writing.in_type(writing.value(node, 0), DType.I32), writing.constant(0, DType.I32, f"{node.name}_zero")
    writing.emit(node, "Sub", [zero, x], DType.I32, -x.range)


def requantized_add(node: FileNode, writing: Writing) -> None:
    """Both operands requantised, and their sum: a stage that is missing is none."""
    a, b = (_stage(node, writing, writing.value(node, index), f"rqs{index + 1}", f"rqs{index + 1}") for index in (0, 1))
    wide = [writing.in_type(value, DType.I32) for value in (a, b)]
    total = writing.emit(node, "Add", wide, DType.I32, wide[0].range + wide[1].range, hint="sum")
    _stage(node, writing, total, "rqsOut", "")


def _stage(node: FileNode, writing: Writing, value: Value, prefix: str, hint: str) -> Value:
    """One requantisation of a RequantizedAdd. The half of the last step is in its addend."""
    levels = node.integer(f"{prefix}_n_levels_out", f"{prefix}_n_levels", default=256)
    signed = node.integer(f"{prefix}_signed", default=1)
    limits = Range(low=-(levels // 2), high=levels // 2 - 1) if signed else Range(low=0, high=levels - 1)
    shift = Shift(
        mul=node.integer(f"{prefix}_mul", default=1),
        add=node.integer(f"{prefix}_add", default=0),
        shift=log2(node.integer(f"{prefix}_div", default=1)),
        limits=limits,
        floor=True,
    )
    return write_shift(node, writing, value, shift, hint)


def true_integer_div(node: FileNode, writing: Writing) -> None:
    """x times the constant floor(Delta * eta / (y * eta + eps))."""
    delta, eps, eta, y = (node.integer(name) for name in ("Delta", "eps", "eta", "y"))
    divisor = y * eta + eps
    if divisor <= 0:
        raise OddNode(f"y * eta + eps is {divisor}")
    x = writing.in_type(writing.value(node, 0), DType.I32)
    factor = writing.constant(delta * eta // divisor, DType.I32, f"{node.name}_factor")
    writing.emit(node, "Mul", [x, factor], DType.I32, x.range * factor.range)


def integer_div(node: FileNode, writing: Writing) -> None:
    """A / B to the nearest, over Delta, eta and eps."""
    _integer_div(node, writing, "")


def requantized_div(node: FileNode, writing: Writing) -> None:
    """The same, requantised."""
    result = _integer_div(node, writing, "quotient")
    write_shift(node, writing, result, merged_shift(node, writing, 2))


def _integer_div(node: FileNode, writing: Writing, hint: str) -> Value:
    words = {name.lower(): node.integer(name) for name in ("Delta", "eps", "eta")}
    a, b = (writing.value(node, index) for index in (0, 1))
    factor = words["delta"] * words["eta"]
    least = words["eta"] * b.range.low + words["eps"]
    if words["eta"] < 0 or least <= 0:
        raise OddNode(f"its divisor may be {least}")
    most = max(abs(a.range.low), abs(a.range.high)) * factor // least + 1
    result = Range(low=-most if a.range.low < 0 else 0, high=most)
    return writing.emit(
        node, "IntegerDiv", [writing.in_type(each, DType.I32) for each in (a, b)], DType.I32, result, words, hint=hint,
        own=True,
    )  # fmt: skip


def gelu(node: FileNode, writing: Writing) -> None:
    """A polynomial of the second degree in place of the error function."""
    _gelu(node, writing, "")


def requantized_gelu(node: FileNode, writing: Writing) -> None:
    """The same, requantised."""
    write_shift(node, writing, _gelu(node, writing, "gelu"), merged_shift(node, writing, 1))


def _gelu(node: FileNode, writing: Writing, hint: str) -> Value:
    b, one = node.integer("b"), node.integer("one")
    if b >= 0 or one < 0:
        raise OddNode(f"b is {b} and one is {one}: b must be below 0, and one not")
    x = writing.value(node, 0)
    curve = max(one, abs(one - b * b))
    factor = Range(low=(one - curve) >> 1, high=(one + curve + 1) >> 1)
    return writing.emit(node, "iGELU", [x], DType.I32, x.range * factor, {"b": b, "one": one}, hint=hint, own=True)


def hardswish(node: FileNode, writing: Writing) -> None:
    """x * clip(x + three, 0, six) * one_over_six."""
    _hardswish(node, writing, "")


def requantized_hardswish(node: FileNode, writing: Writing) -> None:
    """The same, requantised."""
    write_shift(node, writing, _hardswish(node, writing, "hardswish"), merged_shift(node, writing, 1))


def _hardswish(node: FileNode, writing: Writing, hint: str) -> Value:
    words = {name: node.integer(name) for name in ("one_over_six", "three", "six")}
    x, six = writing.value(node, 0), Range(low=0, high=max(words["six"], 0))
    factor = six * Range(low=words["one_over_six"], high=words["one_over_six"])
    return writing.emit(node, "iHardswish", [x], DType.I32, x.range * factor, words, hint=hint, own=True)


def no_norm(node: FileNode, writing: Writing) -> None:
    """(x * weight + bias) * mul >> log2(D), clipped to n_levels."""
    x, weight, bias = (writing.in_type(writing.value(node, index), DType.I32) for index in (0, 1, 2))
    scaled = writing.emit(node, "Mul", [x, weight], DType.I32, x.range * weight.range, hint="scaled")
    moved = writing.emit(node, "Add", [scaled, bias], DType.I32, scaled.range + bias.range, hint="moved")
    shift = Shift(mul=node.integer("mul"), add=0, shift=log2(node.integer("D")), limits=limits_of(node), floor=True)
    write_shift(node, writing, moved, shift)


def relu(node: FileNode, writing: Writing) -> None:
    """Nothing below 0."""
    _clip(node, writing, 0, 2**31 - 1)


def clip(node: FileNode, writing: Writing) -> None:
    """Limits as attributes or inputs; an absent one is none."""
    low, high = ((writing.parameter(node, index) or (None,))[0] for index in (1, 2))
    _clip(
        node,
        writing,
        node.integer("min", default=-(2**31)) if low is None else low,
        node.integer("max", default=2**31 - 1) if high is None else high,
    )


def _clip(node: FileNode, writing: Writing, low: int, high: int) -> None:
    x = writing.value(node, 0)
    limits = range_of(x.dtype)
    low, high = min(max(low, limits.low), limits.high), min(max(high, limits.low), limits.high)
    ends = [writing.constant(end, x.dtype, f"{node.name}_{what}") for end, what in ((low, "low"), (high, "high"))]
    writing.emit(node, "Clip", [x, *ends], x.dtype, x.range.clamped(low, high))


def cast(node: FileNode, writing: Writing) -> None:
    """Whole numbers stay what they are."""
    x = writing.value(node, 0)
    writing.emit(node, "Identity", [x], x.dtype, x.range)


def _pair(node: FileNode, writing: Writing) -> tuple[Value, Value]:
    a, b = (writing.in_type(writing.value(node, index), DType.I32) for index in (0, 1))
    return a, b
