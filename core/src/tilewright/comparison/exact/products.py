"""Knows exact sums of products: matrices, convolutions, and windows that are summed. Does not know ONNX's nodes.

Integers below 2**53 are multiplied as doubles, which is exact and fast. A factor that all weights of an output share
(its scale) is taken out before, so that most are small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product as places
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.rationals import NotExact, Rationals, narrowed, peak, widened

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

_DOUBLES = 1 << 53
_WORDS = 1 << 63
MOST_LONG = 40_000_000  # products of integers that 64 bits do not hold: seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Where windows lie over the spatial axes: of each axis the kernel's extent, its step, and what is before it."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begins: tuple[int, ...]
    ends: tuple[int, ...]

    def taps(self) -> Iterator[tuple[int, ...]]:
        """Positions in the kernel."""
        return places(*(range(extent) for extent in self.kernel))


def seen(x: Array, windows: Windows, outputs: Sequence[int], outside: Any) -> Iterator[tuple[tuple[int, ...], Array]]:
    """For each tap what every window has there, `outside` where that is no element of x. The last axes are spatial."""
    import numpy as np

    spatial = x.shape[-len(outputs) :]
    spans = [
        (out - 1) * step + (extent - 1) * far + 1
        for out, step, extent, far in zip(outputs, windows.strides, windows.kernel, windows.dilations, strict=True)
    ]
    before = [max(begin, 0) for begin in windows.begins]
    after = [max(span - begin - size, 0) for span, begin, size in zip(spans, windows.begins, spatial, strict=True)]
    extents = [a + b + c for a, b, c in zip(before, spatial, after, strict=True)]
    padded = np.full((*x.shape[: -len(outputs)], *extents), outside, x.dtype)  # np.pad makes int64 of Python's integers
    inside: Any = (..., *(slice(a, a + b) for a, b in zip(before, spatial, strict=True)))
    padded[inside] = x
    for tap in windows.taps():
        starts = [
            at * far - begin + pad
            for at, far, begin, pad in zip(tap, windows.dilations, windows.begins, before, strict=True)
        ]
        cuts = (
            slice(start, start + (out - 1) * step + 1, step)
            for start, out, step in zip(starts, outputs, windows.strides, strict=True)
        )
        seen_there: Any = (..., *cuts)
        yield tap, padded[seen_there]


def matrix_product(first: Rationals, second: Rationals) -> Rationals:
    """As numpy's matmul. NotExact where it would take minutes."""
    import numpy as np

    right, factor = _without_content(second.numerators, -2) if second.numerators.ndim > 1 else (second.numerators, None)
    total = _dot(first.numerators, right)
    if factor is not None:
        factor = np.squeeze(factor, -2) if first.numerators.ndim == 1 else factor
        total = _times(total, factor)
    rounded = first.rounded or second.rounded
    return Rationals(numerators=narrowed(total), unit=first.unit * second.unit, rounded=rounded)


def convolved(x: Rationals, w: Rationals, windows: Windows, outputs: Sequence[int], groups: int) -> Rationals:
    """x [N, C, ...] and w [O, C / groups, ...] -> [N, O, outputs], without a bias."""
    import numpy as np

    weights, factor = _without_content(w.numerators, tuple(range(1, w.numerators.ndim)))
    images, channels = x.shape[0], x.shape[1]
    own, rows = w.shape[1], w.shape[0] // groups
    split = weights.reshape(groups, rows, own, *w.shape[2:])
    count = math.prod(outputs)
    left, right = _arithmetic(split, x.numerators, own * math.prod(windows.kernel), w.shape[0] * images * count)
    total: Array | int = 0
    for tap, part in seen(right, windows, outputs, 0):
        columns = part.reshape(images, groups, channels // groups, count)
        at: Any = (..., *tap)
        total = total + np.matmul(left[at], columns)
    whole = _integers(np.asarray(total)).reshape(images, w.shape[0], *outputs)
    whole = _times(whole, factor.reshape(1, -1, *(1,) * len(outputs)))
    return Rationals(numerators=narrowed(whole), unit=x.unit * w.unit, rounded=x.rounded or w.rounded)


def spread(x: Rationals, w: Rationals, windows: Windows, outputs: Sequence[int], groups: int) -> Rationals:
    """The transposed convolution: x [N, C, ...] and w [C, O / groups, ...] -> [N, O, outputs]. It is the convolution of
    x with zeros between its elements, with weights in the opposite order.
    """
    import numpy as np

    rank = len(outputs)
    channels, own = w.shape[0], w.shape[1]
    extents = [(size - 1) * step + 1 for size, step in zip(x.shape[2:], windows.strides, strict=True)]
    apart = np.zeros((*x.shape[:2], *extents), x.numerators.dtype)
    every: Any = (..., *(slice(None, None, step) for step in windows.strides))
    apart[every] = x.numerators
    split = w.numerators.reshape(groups, channels // groups, own, *windows.kernel)
    turned = np.flip(np.swapaxes(split, 1, 2), tuple(range(3, 3 + rank)))
    weights = turned.reshape(groups * own, channels // groups, *windows.kernel)
    begins = (
        (extent - 1) * far - begin
        for extent, far, begin in zip(windows.kernel, windows.dilations, windows.begins, strict=True)
    )
    plain = Windows(
        kernel=windows.kernel,
        strides=(1,) * rank,
        dilations=windows.dilations,
        begins=tuple(begins),
        ends=(0,) * rank,
    )
    inputs = Rationals(numerators=apart, unit=x.unit, rounded=x.rounded)
    return convolved(inputs, Rationals(numerators=weights, unit=w.unit, rounded=w.rounded), plain, outputs, groups)


def _without_content(numerators: Array, axes: int | tuple[int, ...]) -> tuple[Array, Array]:
    """Numerators without the factor that they share along the axes, and the factor (axes of 1)."""
    import numpy as np

    if not numerators.size:
        return numerators, np.ones((), np.int64)
    factor = np.asarray(np.gcd.reduce(numerators, axis=axes, keepdims=True))
    factor = np.where(factor == 0, 1, factor)
    return narrowed(numerators // factor), factor


def _times(numerators: Array, factor: Array) -> Array:
    small = peak(numerators) * peak(factor) < _WORDS
    return numerators * factor if small else widened(numerators) * widened(factor)


def _dot(left: Array, right: Array) -> Array:
    import numpy as np

    columns = right.shape[-1] if right.ndim > 1 else 1
    first, second = _arithmetic(left, right, left.shape[-1], max(1, left.size // max(1, left.shape[-1])) * columns)
    return _integers(np.asarray(np.matmul(first, second)))


def _arithmetic(left: Array, right: Array, terms: int, sums: int) -> tuple[Array, Array]:
    """Both in the type in which so many sums of so many products are exact."""
    import numpy as np

    bound = peak(left) * peak(right) * max(terms, 1)
    if bound < _DOUBLES:
        return left.astype(np.float64), right.astype(np.float64)
    if bound < _WORDS:
        return left, right
    if terms * sums > MOST_LONG:
        raise NotExact(f"it has {terms * sums:,} products of long integers")
    return widened(left), widened(right)


def _integers(numerators: Array) -> Array:
    import numpy as np

    return numerators.astype(np.int64) if numerators.dtype == np.float64 else numerators
