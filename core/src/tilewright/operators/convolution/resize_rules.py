"""Knows where the outputs of ONNX's Resize lie in its input, along one axis, and which elements weigh how much there.
Does not know tensors with several axes, nor how a weighted sum is computed.

Source: ONNX Resize-10 to 19; positions in float64, as in ONNX's reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One axis of `inputs` elements that gets `size`; `scale`, what was asked for, is their ratio but for rounding."""

    inputs: int
    size: int
    scale: float
    roi: tuple[float, float] = (0.0, 1.0)  # tf_crop_and_resize only

    @property
    def keeps(self) -> bool:
        """Whether every output is the input at its place, whatever the rule."""
        return self.size == self.inputs and self.scale == 1 and self.roi == (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """How elements are weighted: "linear" or "cubic", with the coefficient of the latter."""

    mode: str
    cubic: float = -0.75
    antialias: bool = False
    exclude_outside: bool = False


def _half_pixel(line: Line, y: Doubles) -> Doubles:
    return (y + 0.5) / line.scale - 0.5


def _symmetric(line: Line, y: Doubles) -> Doubles:
    return line.inputs / 2 * (1 - line.size / (line.scale * line.inputs)) + _half_pixel(line, y)


def _pytorch_half_pixel(line: Line, y: Doubles) -> Doubles:
    return np.full_like(y, -0.5) if line.scale * line.inputs == 1 else _half_pixel(line, y)


def _align_corners(line: Line, y: Doubles) -> Doubles:
    width = line.scale * line.inputs
    return np.zeros_like(y) if width == 1 else y * (line.inputs - 1) / (width - 1)


def _crop(line: Line, y: Doubles) -> Doubles:
    width, (low, high) = line.scale * line.inputs, line.roi
    if width == 1:
        return np.full_like(y, (high - low) * (line.inputs - 1) / 2 + low * (line.inputs - 1))
    return y * (high - low) * (line.inputs - 1) / (width - 1) + low * (line.inputs - 1)


RULES: Mapping[str, Callable[[Line, Doubles], Doubles]] = MappingProxyType(
    {
        "align_corners": _align_corners,
        "asymmetric": lambda line, y: y / line.scale,
        "half_pixel": _half_pixel,
        "half_pixel_symmetric": _symmetric,
        "pytorch_half_pixel": _pytorch_half_pixel,
        "tf_crop_and_resize": _crop,
        "tf_half_pixel_for_nn": lambda line, y: (y + 0.5) / line.scale,
    }
)

ROUNDINGS: Mapping[str, Callable[[Doubles], Doubles]] = MappingProxyType(
    {
        "ceil": np.ceil,
        "floor": np.floor,
        "round_prefer_ceil": lambda x: np.floor(x + 0.5),
        "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    }
)


def positions(line: Line, rule: str) -> Doubles:
    """Where each output lies, in elements of the input."""
    return RULES[rule](line, np.arange(line.size, dtype=np.float64))


def nearest(line: Line, rule: str, rounding: str) -> Positions:
    """The element that each output is."""
    found = ROUNDINGS[rounding](positions(line, rule)).astype(np.int64)
    return np.clip(found, 0, line.inputs - 1)


def outside(line: Line, rule: str) -> npt.NDArray[np.bool_]:
    """The outputs that lie outside the input, where the rule gives those a value of their own."""
    x = positions(line, rule)
    return (x < 0) | (x > line.inputs - 1) if rule == "tf_crop_and_resize" else np.zeros(line.size, np.bool_)


def taps(line: Line, rule: str, weighting: Filter) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """For each output the first element that it needs, and the weights of that one and the following: [size, taps]."""
    table = np.zeros((line.size, line.inputs))
    for output, x in enumerate(positions(line, rule)):
        base = math.ceil(x) - 1
        weights = _weights(x - base, line.scale, weighting)
        places = base + 1 - len(weights) // 2 + np.arange(len(weights))
        if weighting.exclude_outside:
            weights = np.where((places >= 0) & (places < line.inputs), weights, 0)
            weights = weights / weights.sum() if weights.any() else weights
        np.add.at(table[output], np.clip(places, 0, line.inputs - 1), weights)
    return _compact(table)


def _weights(ratio: float, scale: float, weighting: Filter) -> Doubles:
    """Of elements around a position that is `ratio`, above 0 and up to 1, after the lower one of the middle two."""
    reach = 1 if weighting.mode == "linear" else 2
    stretch = min(scale, 1.0) if weighting.antialias else 1.0
    first = math.floor(-reach / stretch) + 1
    distances = np.abs(np.arange(first, 2 - first) - ratio) * stretch
    weights = np.clip(1 - distances, 0, 1) if reach == 1 else _cubic(distances, weighting.cubic)
    return weights / weights.sum() if weighting.antialias else weights


def _cubic(x: Doubles, a: float) -> Doubles:
    near = (a + 2) * x**3 - (a + 3) * x**2 + 1
    far = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def _compact(table: Doubles) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Without the zeros around what each row has, as wide as the widest row needs."""
    used = table != 0
    first = np.argmax(used, axis=1)
    last = table.shape[1] - 1 - np.argmax(used[:, ::-1], axis=1)
    width = int(np.max(np.where(used.any(axis=1), last - first + 1, 1), initial=1))
    start = np.minimum(first, table.shape[1] - width)
    columns = start[:, None] + np.arange(width)
    return start.astype(np.int32), np.take_along_axis(table, columns, axis=1).astype(np.float32)
