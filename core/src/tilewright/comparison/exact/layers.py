"""Knows what layers give in rational arithmetic: products, convolutions, pools, reductions, normalisations, and
interpolation. Does not know operators of single elements, nor quantisation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tilewright.comparison.exact.functions import inverse_root, softmax
from tilewright.comparison.exact.products import Windows, convolved, matrix_product, seen, spread
from tilewright.comparison.exact.rationals import (
    NotExact,
    Rationals,
    added,
    multiplied,
    narrowed,
    negated,
    rationals,
    scaled,
    widened,
)
from tilewright.ir.graphs.graph import Site

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


def number(site: Site, name: str, default: float) -> Rationals:
    import numpy as np

    return rationals(np.float32(site.node.number(name, default)))


def gemm(site: Site, values: Sequence[Rationals]) -> Rationals:
    a, b, *c = values
    right = b.moved(lambda array: array.T) if site.node.integer("transB") else b
    total = multiplied(matrix_product(a, right), number(site, "alpha", 1.0))
    return added(total, multiplied(c[0], number(site, "beta", 1.0))) if c else total


def _without_zero_points(values: Sequence[Rationals], channels: tuple[int, ...]) -> list[Rationals]:
    """The first two inputs without zero points (the next two). That of the second may be one for each channel, whose
    axes `channels` has as -1, others as 1.
    """
    a, b, *zeros = values
    a_zero, b_zero = (*zeros, rationals(0), rationals(0))[:2]
    if a_zero.numerators.size != 1:
        raise NotExact("there is a zero point for each row")
    shape = () if b_zero.numerators.size == 1 else channels
    moved = (a_zero.moved(lambda array: array.reshape(())), b_zero.moved(lambda array: array.reshape(shape)))
    return [added(value, negated(zero)) for value, zero in zip((a, b), moved, strict=True)]


def _windows(site: Site) -> Windows:
    node = site.node
    kernel = node.integers("kernel_shape") or site.input(1).shape[2:]
    rank = len(kernel)
    pads = node.integers("pads") or (0,) * (2 * rank)
    return Windows(
        kernel=kernel,
        strides=node.integers("strides") or (1,) * rank,
        dilations=node.integers("dilations") or (1,) * rank,
        begins=pads[:rank],
        ends=pads[rank:],
    )


def conv(site: Site, values: Sequence[Rationals]) -> Rationals:
    x, w, *bias = values
    compute = spread if site.node.op == "ConvTranspose" else convolved
    total = compute(x, w, _windows(site), site.output.shape[2:], site.node.integer("group", 1))
    if not bias:
        return total
    shape = (-1, *(1,) * (len(site.output.shape) - 2))
    return added(total, bias[0].moved(lambda array: array.reshape(shape)))


def conv_integer(site: Site, values: Sequence[Rationals]) -> Rationals:
    return conv(site, _without_zero_points(values, (-1, *(1,) * (len(site.output.shape) - 1))))


def max_pool(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    (x,) = values
    lowest = int(np.min(x.numerators, initial=0)) - 1
    parts = [part for _, part in seen(x.numerators, _windows(site), site.output.shape[2:], lowest)]
    return replace(x, numerators=np.max(np.stack(parts), axis=0))


def average_pool(site: Site, values: Sequence[Rationals]) -> Rationals:
    """A window's elements are those inside; with `count_include_pad`, those inside pads, too."""
    import numpy as np

    (x,) = values
    windows, outputs = _windows(site), site.output.shape[2:]
    total = sum((part for _, part in seen(x.numerators, windows, outputs, 0)), np.zeros((), np.int64))
    spatial = x.shape[2:]
    if site.node.integer("count_include_pad"):
        spatial = tuple(a + b + c for a, b, c in zip(windows.begins, spatial, windows.ends, strict=True))
        windows = replace(windows, begins=(0,) * len(spatial))
    ones = np.ones(spatial, np.int64)
    counts = sum((part for _, part in seen(ones, windows, outputs, 0)), np.zeros((), np.int64))
    return _averaged(replace(x, numerators=total), counts)


def _averaged(total: Rationals, counts: Array) -> Rationals:
    """Sums over so many elements each."""
    import numpy as np

    if not np.all(counts):
        raise NotExact("there is a mean of nothing")
    shared = math.lcm(*(int(count) for count in np.unique(counts)))
    factors = shared // counts
    even = bool(np.all(factors == factors.reshape(-1)[0]))
    numerators = scaled(total.numerators, int(factors.reshape(-1)[0])) if even else widened(total.numerators) * factors
    return replace(total, numerators=narrowed(numerators), unit=total.unit / shared)


def reduction(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    (x,) = values
    axes, keeps = site.node.integers("axes"), bool(site.node.integer("keepdims", 1))
    if site.node.op in ("ReduceMax", "ReduceMin"):
        choose: Any = np.max if site.node.op == "ReduceMax" else np.min
        return x.moved(lambda array: np.asarray(choose(array, axis=axes, keepdims=keeps)))
    summed: Any = np.sum
    total = x.moved(lambda array: narrowed(np.asarray(summed(widened(array), axis=axes, keepdims=keeps), object)))
    count = math.prod(x.shape[axis] for axis in axes)
    return _averaged(total, np.asarray(count)) if site.node.op == "ReduceMean" else total


def interpolated(site: Site, values: Sequence[Rationals]) -> Rationals:
    """Along each axis between two neighbours, with weights that are quotients of integers."""
    import numpy as np

    (x,) = values
    names = ("sizes", "slopes", "offsets", "divisors")
    for axis, (size, slope, offset, divisor) in enumerate(
        zip(*(site.node.integers(name) for name in names), strict=True), start=2
    ):
        position = slope * np.arange(size, dtype=np.int64) + offset
        before, last = position // divisor, x.shape[axis] - 1
        share = (position - before * divisor).reshape(-1, *(1,) * (len(x.shape) - axis - 1))
        parts = [np.take(widened(x.numerators), np.clip(before + at, 0, last), axis) for at in (0, 1)]
        numerators = narrowed(parts[0] * (divisor - share) + parts[1] * share)
        x = replace(x, numerators=numerators, unit=x.unit / divisor)
    return x


def batch_normalised(site: Site, values: Sequence[Rationals]) -> Rationals:
    shape = (-1, *(1,) * (len(site.input(0).shape) - 2))
    x, *parameters = values
    scale, shift, mean, variance = (each.moved(lambda array: array.reshape(shape)) for each in parameters)
    factor = multiplied(scale, inverse_root(added(variance, number(site, "epsilon", 1e-5))))
    return added(multiplied(added(x, negated(mean)), factor), shift)


def rows_normalised(site: Site, values: Sequence[Rationals]) -> Rationals:
    import numpy as np

    x, *parameters = values
    count = np.asarray(x.shape[-1])

    def mean(value: Rationals) -> Rationals:
        total: Any = np.sum(widened(value.numerators), axis=-1, keepdims=True)
        return _averaged(replace(value, numerators=narrowed(np.asarray(total, object))), count)

    centred = added(x, negated(mean(x))) if site.node.op == "LayerNormalization" else x
    safe = added(mean(multiplied(centred, centred)), number(site, "epsilon", 1e-5))
    result = multiplied(centred, inverse_root(safe))
    present = [tensor is not None for tensor in site.inputs[1:]]
    if present[:1] == [True]:
        result = multiplied(result, parameters[0])
    return added(result, parameters[-1]) if present[1:] == [True] else result


def matmul_integer(site: Site, values: Sequence[Rationals]) -> Rationals:
    """Of integers without their zero points."""
    del site
    return matrix_product(*_without_zero_points(values, (-1,)))


def softmax_of(site: Site, values: Sequence[Rationals]) -> Rationals:
    return softmax(values[0], site.node.integer("axis"), logarithm=site.node.op == "LogSoftmax")
