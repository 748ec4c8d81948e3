"""Knows ranges of what recurrent layers have seen: of values, and of the cell of an LSTM in every step, which no
result of it shows. Does not know how a network is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]
    Doubles = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """`real = scale * (stored - zero_point)`."""

    scale: float
    zero_point: int


def range_of(arrays: Sequence[Array], dtype: np.dtype[Any]) -> Range:
    """From the smallest to the largest value, and 0: 8 bits with a zero point, 16 without."""
    low = min(0.0, *(float(np.min(array, initial=0)) for array in arrays))
    high = max(0.0, *(float(np.max(array, initial=0)) for array in arrays))
    limits = np.iinfo(dtype)
    if limits.bits > 8:
        return Range(scale=_scale(max(-low, high) / limits.max), zero_point=0)
    scale = _scale((high - low) / (limits.max - limits.min))
    return Range(scale=scale, zero_point=int(np.clip(round(limits.min - low / scale), limits.min, limits.max)))


def _scale(value: float) -> float:
    return float(np.float32(max(value, 2.0**-30)))


def largest_cell(node: Any, seen: Mapping[str, list[Array]], weights: Sequence[Array | None]) -> float:
    """How far from 0 the cell of an LSTM is at most, over all samples and steps. `weights` are W, R and B or None."""
    attributes = {each.name: each for each in node.attribute}
    inputs = [*node.input, *("",) * 7]
    batch_first = bool(attributes["layout"].i) if "layout" in attributes else False
    way = attributes["direction"].s.decode() if "direction" in attributes else "forward"
    w, r, b = (None if array is None else np.asarray(array, np.float64) for array in weights)
    if w is None or r is None:
        raise ValueError(f"{node.name}: W and R are needed")
    largest = 0.0
    for sample, array in enumerate(seen[inputs[0]]):
        x = np.asarray(array, np.float64)
        x = x.swapaxes(0, 1) if batch_first else x
        for direction in range(len(w)):
            begin = [
                _begin(seen, inputs[place], sample, direction, (x.shape[1], r.shape[2]), batch_first)
                for place in (5, 6)
            ]
            bias = np.zeros(w.shape[1]) if b is None else b[direction].reshape(2, -1).sum(0)
            steps = x[::-1] if way == "reverse" or direction else x
            largest = max(largest, _largest(steps @ w[direction].T + bias, r[direction].T, *begin))
    return largest


def _begin(
    seen: Mapping[str, list[Array]], name: str, sample: int, direction: int, shape: tuple[int, int], batch_first: bool
) -> Doubles:
    """A state [B, H] before the first step."""
    if not name:
        return np.zeros(shape)
    known = seen[name]
    array = np.asarray(known[min(sample, len(known) - 1)], np.float64)
    return array[:, direction] if batch_first else array[direction]


def _largest(outer: Doubles, weights: Doubles, h: Doubles, c: Doubles) -> float:
    """Of steps [T, B, gates * H]."""
    largest = float(np.max(np.abs(c), initial=0))
    for step in outer:
        i, o, f, g = np.split(step + h @ weights, 4, axis=1)
        gates = [0.5 + 0.5 * np.tanh(each / 2) for each in (i, o, f)]
        c = gates[2] * c + gates[0] * np.tanh(g)
        h = gates[1] * np.tanh(c)
        largest = max(largest, float(np.max(np.abs(c), initial=0)))
    return largest
