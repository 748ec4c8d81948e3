"""`tflm` operator by operator: what it makes of a lowered node, and results beside formulas written out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tilewright.ir.graphs.graph import Attribute, Site
from tilewright.ir.tensors.requant import Requant, StoredScales
from tilewright.ir.tensors.roundings import DoubleRounding, Rational
from tilewright.operators.arithmetics.tflm import TFLM
from tilewright.operators.quantised.qconv import QCONV
from tilewright.operators.quantised.qelementwise import QADD, QMUL
from tilewright.operators.quantised.qgemm import QGEMM, QMATMUL
from tilewright.operators.quantised.qpool import QAVERAGE_POOL, QREDUCE_MEAN
from tilewright.operators.quantised.qrescale import QRESCALE
from tilewright.operators.quantised.qsoftmax import QSOFTMAX
from tilewright.testing.operator_sites import site_of

Array = npt.NDArray[np.generic]
X, W, Y = (float(np.float32(scale)) for scale in (0.037, 0.0123, 0.0551))
RNG = np.random.default_rng(7)


def requant(w: tuple[float, ...] = (W,), terms: tuple[int, ...] = (1,), **more: Any) -> Requant:
    stored = StoredScales(x=X, w=w, y=more.pop("y", Y), terms=terms)
    limits = {"zero_point": -7, "low": -128, "high": 127, **more}
    return Requant(scale=(0.5,) * max(len(w), len(terms)), stored=stored, **limits)


def declared(site: Site) -> Site:
    answer = TFLM.declared(site)
    assert not isinstance(answer, str), answer
    return replace(site, node=replace(site.node, attributes={**site.node.attributes, **answer}))


def twice_rounded(acc: int, scale: float) -> int:
    """Multiplier, rounding doubling high product and rounding shift, in fractions."""
    fraction, exponent = math.frexp(scale)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    high = math.floor(Fraction(acc * multiplier, 2**31) + Fraction(1, 2))
    size = math.floor(Fraction(abs(high), 2**-exponent) + Fraction(1, 2))
    return -size if high < 0 else size


def limited(value: int) -> int:
    return min(max(value - 7, -128), 127)


def image(*shape: int) -> npt.NDArray[np.int8]:
    return RNG.integers(-128, 128, shape).astype(np.int8)


def test_convolutions_multiply_scales_in_float64() -> None:
    w_scales = (W, W / 3, 2 * W)
    x, w, b = image(1, 4, 5, 5), image(3, 4, 3, 3), RNG.integers(-4000, 4000, 3).astype(np.int32)
    windows: dict[str, Attribute] = {
        "kernel_shape": (3, 3), "strides": (1, 1), "dilations": (1, 1), "pads": (0, 0, 0, 0), "ceil_mode": 0,
        "group": 1, "x_zero_point": 3, "pad_value": 3, "w_zero_point": (0,), "requant": requant(w_scales),
    }  # fmt: skip
    site = declared(site_of(QCONV, [x, w, b], windows, (1, 2)))
    (found,) = QCONV.reference(site, [x, w, b])
    for channel, row, column in np.ndindex(3, 3, 3):
        window = x[0, :, row : row + 3, column : column + 3].astype(int) - 3
        acc = int((window * w[channel]).sum()) + int(b[channel])
        assert found[0, channel, row, column] == limited(twice_rounded(acc, X * w_scales[channel] / Y))


@pytest.mark.parametrize("w_scales", [(W,), (W, 3 * W)])
def test_fully_connected_layers_of_one_scale_multiply_it_in_float32(w_scales: tuple[float, ...]) -> None:
    a, b = image(6, 40), image(40, 2)
    attributes: dict[str, Attribute] = {"a_zero_point": -5, "b_zero_point": (0,), "requant": requant(w_scales)}
    site = declared(site_of(QGEMM, [a, b, None], attributes, (1,)))
    product = float(np.float32(X) * np.float32(W))
    assert product != X * W
    scales = (product / Y,) if len(w_scales) == 1 else tuple(X * w / Y for w in w_scales)
    assert site.node.requant().scale == scales
    sums = (a.astype(int) + 5) @ b.astype(int)
    expected = [
        [limited(twice_rounded(int(acc), scales[n % len(scales)])) for n, acc in enumerate(row)] for row in sums
    ]
    assert QGEMM.reference(site, [a, b, None])[0].tolist() == expected


def test_products_of_matrices_and_of_elements() -> None:
    a, b = image(4, 6), image(6, 5)
    zeros: dict[str, Attribute] = {"a_zero_point": 1, "b_zero_point": 2, "requant": requant()}
    matmul, mul = declared(site_of(QMATMUL, [a, b], zeros)), declared(site_of(QMUL, [a, a.copy()], zeros))
    assert matmul.node.requant().scale == (float(np.float32(X) * np.float32(W)) / Y,)
    assert mul.node.requant().scale == (X * W / Y,)
    products = (a.astype(int) - 1) * (a.astype(int) - 2)
    expected = [[limited(twice_rounded(int(acc), X * W / Y)) for acc in row] for row in products]
    assert QMUL.reference(mul, [a, a.copy()])[0].tolist() == expected


def pool_site(x: Array, **more: Attribute) -> Site:
    attributes: dict[str, Attribute] = {
        "kernel_shape": (3, 2), "strides": (2, 1), "dilations": (1, 1), "pads": (1, 0, 0, 1), "ceil_mode": 0,
        "count_include_pad": 0, "x_zero_point": -7, "requant": requant(terms=(1, 2, 3, 4, 5, 6), y=X),
    }  # fmt: skip
    return site_of(QAVERAGE_POOL, [x], {**attributes, **more})


def test_average_pools_round_halves_away_from_zero() -> None:
    x = image(1, 2, 6, 5)
    site = declared(pool_site(x))
    assert isinstance(site.node.requant().rounding, Rational)
    (found,) = QAVERAGE_POOL.reference(site, [x])
    for at in np.ndindex(*found.shape):
        top, left = 2 * at[2] - 1, at[3]
        window = x[0, at[1], max(top, 0) : top + 3, left : left + 2].astype(int)
        total, count = int(window.sum()), window.size
        size = (abs(total) + count // 2) // count
        assert found[at] == (size if total > 0 else -size)


@pytest.mark.parametrize(("more", "reason"), [
    ({"x_zero_point": 0}, "does not change scale"), ({"count_include_pad": 1}, "does not count padding"),
    ({"requant": requant(terms=(6,))}, "does not change scale"),
])  # fmt: skip
def test_pools_that_tflm_does_not_have(more: dict[str, Attribute], reason: str) -> None:
    assert reason in str(TFLM.declared(pool_site(image(1, 2, 6, 5), **more)))


@pytest.mark.parametrize("side", [2, 3, 7])
def test_means_divide_the_multiplier(side: int) -> None:
    x, terms = image(1, 4, side, side), side * side
    attributes: dict[str, Attribute] = {
        "axes": (2, 3), "keepdims": 0, "x_zero_point": 4, "requant": requant(terms=(terms,))
    }  # fmt: skip
    site = declared(site_of(QREDUCE_MEAN, [x], attributes))
    assert site.node.requant().rounding == DoubleRounding(terms=terms)
    fraction, exponent = math.frexp(X / Y)
    shift = math.floor(math.log2(terms))
    multiplier = (math.floor(fraction * 2**31 + 0.5) << shift) // terms
    expected = []
    for channel in x[0]:
        high = math.floor(Fraction(int(channel.astype(int).sum() - 4 * terms) * multiplier, 2**31) + Fraction(1, 2))
        size = math.floor(Fraction(abs(high), 2 ** (shift - exponent)) + Fraction(1, 2))
        expected.append(limited(-size if high < 0 else size))
    assert QREDUCE_MEAN.reference(site, [x])[0].tolist() == [expected]


def test_sums_and_softmax_name_their_rounding() -> None:
    a = image(2, 9)
    add: dict[str, Attribute] = {
        "a_scale": X, "b_scale": W, "y_scale": Y, "a_zero_point": 0, "b_zero_point": 0, "zero_point": 0,
        "low": -128, "high": 127,
    }  # fmt: skip
    assert declared(site_of(QADD, [a, a.copy()], add)).node.rounding == "tflm"
    softmax: dict[str, Attribute] = {
        "axis": 1, "x_scale": X, "y_scale": 1 / 256, "zero_point": -128, "low": -128, "high": 127
    }  # fmt: skip
    assert declared(site_of(QSOFTMAX, [a], softmax)).node.rounding == "tflm"
    assert "scale 1/256" in str(TFLM.declared(site_of(QSOFTMAX, [a], {**softmax, "y_scale": 1 / 128})))


def test_sums_beyond_32_bits_are_not_of_tflm() -> None:
    a, b, c = image(1, 4), image(4, 1), np.array([2**31 - 1], np.int32)
    attributes: dict[str, Attribute] = {"a_zero_point": 0, "b_zero_point": (0,), "requant": requant()}
    assert "32 bits" in str(TFLM.declared(site_of(QGEMM, [a, b, c], attributes, (1, 2))))


def once_rounded(acc: int, scale: float) -> int:
    """The multiplier cut to 16 bits, and one shift, halves up."""
    fraction, exponent = math.frexp(scale)
    cut = min((math.floor(fraction * 2**31 + 0.5) + 2**15) // 2**16, 2**15 - 1)
    return math.floor(Fraction(acc * cut, 2 ** (15 - exponent)) + Fraction(1, 2))


def words(*shape: int) -> npt.NDArray[np.int16]:
    return RNG.integers(-(2**15), 2**15, shape).astype(np.int16)


WIDE: dict[str, Any] = {"zero_point": 0, "low": -(2**15), "high": 2**15 - 1}


@pytest.mark.parametrize("w_scales", [(W,), (W, 3 * W)])
def test_products_of_16_bits_are_rounded_once(w_scales: tuple[float, ...]) -> None:
    a, b = words(5, 30), image(30, 2)
    attributes: dict[str, Attribute] = {
        "a_zero_point": 0, "b_zero_point": (0,), "requant": requant(w_scales, y=Y * 16, **WIDE), "output_type": "i16"
    }  # fmt: skip
    site = declared(site_of(QGEMM, [a, b, None], attributes, (1,)))
    single = float(np.float32(X) * np.float32(W))
    scales = (single / (Y * 16),) if len(w_scales) == 1 else tuple(X * w / (Y * 16) for w in w_scales)
    sums = a.astype(int) @ b.astype(int)
    expected = [
        [min(max(once_rounded(int(acc), scales[n % len(scales)]), -(2**15)), 2**15 - 1) for n, acc in enumerate(row)]
        for row in sums
    ]
    assert QGEMM.reference(site, [a, b, None])[0].tolist() == expected
    assert site.node.requant().rounding.name == "multiply-shift"


def test_what_64_bits_do_not_hold_is_refused() -> None:
    a, b = words(1, 4), image(4, 1)
    attributes: dict[str, Attribute] = {"b_zero_point": (0,), "requant": requant(**WIDE), "output_type": "i16"}
    bias = np.array([2**50], np.int64)
    assert "48 bits" in str(TFLM.declared(site_of(QGEMM, [a, b, bias], attributes, (1, 2))))
    steep: dict[str, Attribute] = {**attributes, "requant": requant(y=1e-9, **WIDE)}
    assert "shift to the left" in str(TFLM.declared(site_of(QGEMM, [a, b, None], steep, (1,))))


def test_a_change_of_scale_and_both_sides_of_a_leaky_relu() -> None:
    x = words(300)
    below = replace(requant((0.3,), **WIDE), zero_point=0)
    node: dict[str, Attribute] = {"requant": requant((1.0,), **WIDE), "negative": below, "output_type": "i16"}
    site = declared(site_of(QRESCALE, [x], node))
    (found,) = QRESCALE.reference(site, [x])
    for value, result in zip(x.tolist(), found.tolist(), strict=True):
        assert result == twice_rounded(value, X * (0.3 if value < 0 else 1.0) / Y)


def test_sums_of_two_and_softmax_of_16_bits() -> None:
    total: dict[str, Attribute] = {"a_scale": X, "b_scale": -Y, "y_scale": Y, "low": -(2**15), "high": 2**15 - 1}
    assert declared(site_of(QADD, [words(4), words(4)], {**total, "output_type": "i16"})).node.rounding == "tflm"
    softmax: dict[str, Attribute] = {"x_scale": X, "zero_point": 0, "low": -(2**15), "high": 2**15 - 1}
    fits, other = (
        site_of(QSOFTMAX, [words(2, 5)], {**softmax, "y_scale": scale, "output_type": "i16"})
        for scale in (2.0**-15, 2.0**-16)
    )
    assert declared(fits).node.rounding == "tflm"
    assert "zero point 0" in str(TFLM.declared(other))
