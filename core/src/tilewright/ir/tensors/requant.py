"""Knows how an integer accumulator becomes a stored result: what it means, and how it is rounded, as a value and as
numpy. Does not know the roundings themselves (`roundings`), nor cheaper forms; `proof` finds those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tilewright.ir.tensors.roundings import Float32HalfEven, MultiplyShift, Rational, Rounding

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


ONNX = Float32HalfEven()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScales:
    """The float32 scales of the file that an accumulator's scale is made of: `x * w[c] / (y * terms)`.

    `w` is the second factor of a product, one or one for each channel; `terms` what a mean divides by, likewise.
    """

    x: float
    y: float
    w: tuple[float, ...] = (1.0,)
    terms: tuple[int, ...] = (1,)

    def ratios(self) -> tuple[Fraction, ...]:
        """The exact ratio, one or one for each channel (or count of terms)."""
        count = max(len(self.w), len(self.terms))
        pairs = zip(self.w * (count // len(self.w)), self.terms * (count // len(self.terms)), strict=True)
        return tuple(Fraction(self.x) * Fraction(w) / (Fraction(self.y) * terms) for w, terms in pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requant:
    """`q = clamp(rounded(acc * scale[c]) + zero_point, low, high)`, one scale for all channels or one for each.

    `rounding` says how. Without it, it is `onnx`: `rne(f32(f32(acc) * scale[c]))` with scales that are float32 values.
    For `tflm` scales are float64; roundings that bring their own numbers (`MultiplyShift`, `Rational`) compute with
    those, and `scale` is what they stand for. `low` and `high` are the output type's limits, narrowed by a Relu or
    Clip that was fused. `stored` is what the scale is made of, where that is known: another arithmetic begins there.
    """

    scale: tuple[float, ...]
    zero_point: int
    low: int
    high: int
    rounding: Rounding = ONNX
    stored: StoredScales | None = None

    def scales(self, channels: int) -> tuple[float, ...]:
        """One scale for each of `channels` channels."""
        return self.scale * channels if len(self.scale) == 1 else self.scale

    def of_channels(self, channels: Sequence[int]) -> Requant:
        """The same for these channels, in this order; what one number holds for stays one."""

        def picked(values: tuple[float, ...]) -> tuple[float, ...]:
            return values if len(values) == 1 else tuple(values[channel] for channel in channels)

        def whole(values: tuple[int, ...]) -> tuple[int, ...]:
            return values if len(values) == 1 else tuple(values[channel] for channel in channels)

        rounding, stored = self.rounding, self.stored
        if isinstance(rounding, Rational):
            rounding = replace(rounding, numerator=whole(rounding.numerator), denominator=whole(rounding.denominator))
        if isinstance(rounding, MultiplyShift):
            rounding = replace(
                rounding,
                multiplier=whole(rounding.multiplier),
                addend=whole(rounding.addend),
                shift=whole(rounding.shift),
            )
        if stored is not None:
            stored = replace(stored, w=picked(stored.w), terms=whole(stored.terms))
        return replace(self, scale=picked(self.scale), rounding=rounding, stored=stored)


def requantise(accumulator: npt.NDArray[np.int64], requant: Requant, axis: int) -> npt.NDArray[np.int64]:
    """Apply the exact formula to `accumulator`, whose channel axis is `axis`. Values, not a storage type."""
    import numpy as np

    scale, rank = np.asarray(requant.scale, np.float64), accumulator.ndim
    along = [-1 if a == axis % rank else 1 for a in range(rank)] if scale.size > 1 else [1] * rank
    moved = requant.rounding.rounded(np.asarray(accumulator, np.int64), scale.reshape(along)) + requant.zero_point
    limits = np.int64(requant.low), np.int64(requant.high)
    return np.minimum(np.maximum(moved, limits[0]), limits[1]).reshape(accumulator.shape)  # a scalar stays one
