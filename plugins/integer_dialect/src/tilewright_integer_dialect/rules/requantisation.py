"""Knows RequantShift in all its forms: what is multiplied, added and shifted, and what it is clipped to.
Does not know what was summed before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilewright_integer_dialect.file_nodes import FileNode, OddNode
from tilewright_integer_dialect.values import Range, Value
from tilewright_integer_dialect.writing import Writing

_LARGEST_SHIFT = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """`clip((x * mul + add) >> shift)`, half of the last step added before unless it floors. Arrays broadcast."""

    mul: Any
    add: Any
    shift: int
    limits: Range
    floor: bool = False


def requant_shift(node: FileNode, writing: Writing) -> None:
    """x, mul, add, with the attributes of the node."""
    mul, add = (_array(node, writing, index) for index in (1, 2))
    write_shift(node, writing, writing.value(node, 0), Shift(mul=mul, add=add, **_attributes(node)))


def floored_chain(node: FileNode, writing: Writing) -> None:
    """What `chains` has joined: it rounds down, and its limits are those of Clip."""
    mul, add = (_array(node, writing, index) if node.inputs[index] else default for index, default in ((1, 1), (2, 0)))
    divisor = writing.parameter(node, 3) or ()
    if len(set(divisor)) != 1:
        raise OddNode("it divides by several numbers")
    limits = [writing.parameter(node, index) for index in (4, 5)]
    low, high = ((words or (None,))[0] for words in limits)
    low = node.integer("min", default=-(2**31)) if low is None else low
    high = node.integer("max", default=2**31 - 1) if high is None else high
    shift = Shift(mul=mul, add=add, shift=_log2(divisor[0]), limits=Range(low=low, high=high), floor=True)
    write_shift(node, writing, writing.value(node, 0), shift)


def merged_shift(node: FileNode, writing: Writing, first: int) -> Shift:
    """That of a node which sums and requantises: `mul` is its input `first`, `add` the next. Its `add` has the half."""
    mul, add = (_array(node, writing, index) for index in (first, first + 1))
    return Shift(mul=mul, add=add, **{**_attributes(node), "floor": True})


def write_shift(node: FileNode, writing: Writing, x: Value, shift: Shift, hint: str = "") -> Value:
    """Write the requantisation of `x`; its channels are found where the shape of `x` is known."""
    import numpy as np

    mul, add = np.asarray(shift.mul, np.int64), np.asarray(shift.add, np.int64)
    try:
        mul, add = np.broadcast_arrays(mul, add)
    except ValueError:
        raise OddNode(f"mul {list(mul.shape)} and add {list(add.shape)} do not fit together") from None
    if np.abs(mul).max(initial=0) >= 2**31 or np.abs(add).max(initial=0) >= 2**62:
        raise OddNode("a multiplier of more than 32 bits, or an addend of more than 62")
    attributes = {
        "multipliers": [int(number) for number in mul.reshape(-1)],
        "addends": [int(number) for number in add.reshape(-1)],
        "dims": list(mul.shape) or [1],
        "shift": shift.shift,
        "low": shift.limits.low,
        "high": shift.limits.high,
        "floor": int(shift.floor),
    }
    return writing.emit(node, "RequantShift", [x], shift.limits.dtype, shift.limits, attributes, hint=hint, own=True)


def _attributes(node: FileNode) -> dict[str, Any]:
    return {"shift": _log2(node.integer("div")), "limits": limits_of(node)}


def limits_of(node: FileNode, *, signed: int = 1) -> Range:
    """What the result is clipped to: `n_levels` values, around 0 or from 0 on."""
    levels = node.integer("n_levels_out", "n_levels", default=256)
    if levels < 2:
        raise OddNode(f"{levels} levels")
    if node.integer("signed", default=signed):
        return Range(low=-(levels // 2), high=levels // 2 - 1)
    return Range(low=0, high=levels - 1)


def _log2(divisor: int) -> int:
    if divisor < 1 or divisor & (divisor - 1) or divisor > 1 << _LARGEST_SHIFT:
        raise OddNode(f"div is {divisor:,}, and no power of two")
    return divisor.bit_length() - 1


def _array(node: FileNode, writing: Writing, index: int) -> Any:
    value = writing.value(node, index)
    if value.array is None:
        raise OddNode(f"input {index} ({value.name}) must be a constant")
    return value.array


log2 = _log2
